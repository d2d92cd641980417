"""Six notes in each of ten languages: a question that shares a word with a note finds it first by words."""
# ruff: noqa: RUF001

from __future__ import annotations

from typing import Any

import pytest

# Notes, each with a question.
NOTES = {
    "english": {
        "The plumber comes on Thursday at nine.": "When does the plumber come?",
        "Ada is allergic to peanuts.": "Which allergies has Ada?",
        "The key lies under the flowerpot.": "Where are the keys?",
        "Our train to Lisbon leaves from platform seven.": "From which platform does it leave?",
        "The rent rises by eighty euros in March.": "How much does the rent rise?",
        "Miso the cat sleeps in the cellar.": "Where does the cat sleep?",
    },
    "german": {
        "Der Klempner kommt am Donnerstag um neun.": "Wann kommt der Klempner?",
        "Ada ist allergisch gegen Erdnüsse.": "Verträgt Ada eine Erdnuss?",
        "Der Schlüssel liegt unter dem Blumentopf.": "Wo sind die Schlüssel?",
        "Unser Zug nach Lissabon fährt von Gleis sieben.": "Von welchem Gleis fahren wir?",
        "Die Miete steigt im März um achtzig Euro.": "Um wie viel steigen die Mieten?",
        "Die Katze Miso schläft im Keller.": "Wo schlafen die Katzen?",
    },
    "french": {
        "Le plombier vient jeudi à neuf heures.": "Quand vient le plombier ?",
        "Ada est allergique aux arachides.": "Ada mange-t-elle une arachide ?",
        "La clé se trouve sous le pot de fleurs.": "Où sont les clés ?",
        "Notre train pour Lisbonne part de la voie sept.": "Sur quelle voie est notre train ?",
        "Le loyer augmente de quatre-vingts euros en mars.": "De combien le loyer augmente-t-il ?",
        "Le chat Miso dort dans la cave.": "Où dorment les chats ?",
    },
    "spanish": {
        "El fontanero viene el jueves a las nueve.": "¿Cuándo viene el fontanero?",
        "Ada es alérgica a los cacahuetes.": "¿Puede Ada comer un cacahuete?",
        "La llave está debajo de la maceta.": "¿Dónde están las llaves?",
        "Nuestro tren a Lisboa sale del andén siete.": "¿De qué andenes salen trenes a Lisboa?",
        "El alquiler sube ochenta euros en marzo.": "¿Cuánto suben los alquileres?",
        "La gata Miso duerme en el sótano.": "¿Dónde duermen las gatas?",
    },
    "russian": {
        "Сантехник придёт в четверг в девять.": "Когда придёт сантехник?",
        "У Ады аллергия на арахис.": "Можно ли Аде арахис?",
        "Ключ лежит под цветочным горшком.": "Где лежат ключи?",
        "Наш поезд в Лиссабон отходит с седьмого пути.": "Откуда отходят поезда?",
        "Аренда вырастет в марте на восемьдесят евро.": "На сколько вырастет аренда?",
        "Кошка Мисо спит в подвале.": "Где спят кошки?",
    },
    "arabic": {
        "يأتي السباك يوم الخميس في التاسعة.": "متى يأتي السباك؟",
        "آدا تعاني من حساسية الفول السوداني.": "هل تأكل آدا الفول؟",
        "المفتاح تحت أصيص الزهور.": "أين المفتاح؟",
        "قطارنا إلى لشبونة يغادر من الرصيف السابع.": "من أي رصيف يغادر قطارنا؟",
        "يرتفع الإيجار ثمانين يورو في مارس.": "كم يرتفع الإيجار؟",
        "القطة ميسو تنام في القبو.": "أين تنام القطة؟",
    },
    "chinese": {
        "水管工星期四九点来。": "水管工什么时候来？",
        "艾达对花生过敏。": "艾达能吃花生吗？",
        "钥匙在花盆下面。": "钥匙在哪里？",
        "我们去里斯本的火车从七号站台出发。": "火车从几号站台出发？",
        "三月份房租涨八十欧元。": "房租涨多少？",
        "猫咪味噌睡在地下室。": "猫睡在哪里？",
    },
    "japanese": {
        "配管工は木曜日の九時に来ます。": "配管工はいつ来ますか。",
        "エイダはピーナッツアレルギーです。": "エイダはピーナッツを食べられますか。",
        "鍵は植木鉢の下にあります。": "鍵はどこですか。",
        "リスボン行きの列車は七番線から出ます。": "列車は何番線から出ますか。",
        "家賃は三月に八十ユーロ上がります。": "家賃はいくら上がりますか。",
        "猫の味噌は地下室で寝ます。": "猫はどこで寝ますか。",
    },
    "korean": {
        "배관공은 목요일 아홉 시에 옵니다.": "배관공이 언제 오나요?",
        "에이다는 땅콩 알레르기가 있습니다.": "에이다가 땅콩을 먹을 수 있나요?",
        "열쇠는 화분 아래에 있습니다.": "열쇠가 어디에 있나요?",
        "리스본행 기차는 칠 번 승강장에서 출발합니다.": "기차가 어느 승강장에서 떠나요?",
        "월세가 삼월에 팔십 유로 오릅니다.": "월세는 얼마나 올라요?",
        "고양이 미소는 지하실에서 잡니다.": "고양이가 어디서 자나요?",
    },
    "thai": {
        "ช่างประปาจะมาวันพฤหัสบดีเก้าโมง": "ช่างประปาจะมาเมื่อไร",
        "เอด้าแพ้ถั่วลิสง": "เอด้ากินถั่วลิสงได้ไหม",
        "กุญแจอยู่ใต้กระถางดอกไม้": "กุญแจอยู่ที่ไหน",
        "รถไฟไปลิสบอนออกจากชานชาลาเจ็ด": "รถไฟออกจากชานชาลาไหน",
        "ค่าเช่าขึ้นแปดสิบยูโรในเดือนมีนาคม": "ค่าเช่าขึ้นเท่าไร",
        "แมวมิโสะนอนในห้องใต้ดิน": "แมวนอนที่ไหน",
    },
}


@pytest.mark.parametrize("language", NOTES)
def test_a_question_that_shares_a_word_finds_its_note_first(tenant: Any, language: str) -> None:
    for text in NOTES[language]:
        tenant.store(text[:20], text)
    found = {question: tenant.ids(question, mode="keyword", k=1) for question in NOTES[language].values()}
    assert found == {question: [text[:20]] for text, question in NOTES[language].items()}


def test_a_tenant_of_ten_languages_finds_each_note_first(tenant: Any) -> None:
    """But for the notes whose name stands in several languages: Ada and Miso."""
    every = {text: question for notes in NOTES.values() for text, question in notes.items()}
    for number, text in enumerate(every):
        tenant.store(f"{number:02}", text)
    asked = {
        f"{number:02}": question for number, question in enumerate(every.values()) if number % 6 not in (1, 5)
    }
    found = {key: tenant.ids(question, mode="keyword", k=1) for key, question in asked.items()}
    assert found == {key: [key] for key in asked}
