"""Tokens of a text without a tokenizer: near a vocabulary of 250,000 pieces, in every script."""
# ruff: noqa: RUF001

from __future__ import annotations

import time

import pytest

from pgmnemo.passages.estimate import about_tokens, estimated_spans

REFERENCE = {  # texts that nothing was fitted on, with their tokens by XLM-RoBERTa's tokenizer
    "english": (
        66,
        "My sister moved to Lisbon in May and works as a nurse in a hospital near the riv"
        "er. She is allergic to peanuts, so please tell the kitchen before we order anyth"
        "ing. On Friday at 18:30 we meet at the station, platform 7, and take the train t"
        "o Porto. The tickets cost 42.50 each.",
    ),
    "german": (
        59,
        "Meine Schwester ist im Mai nach Lissabon gezogen und arbeitet als Krankenschwest"
        "er in einem Krankenhaus am Fluss. Sie ist gegen Erdnüsse allergisch, also sag bi"
        "tte der Küche Bescheid, bevor wir etwas bestellen. Am Freitag um 18:30 Uhr treff"
        "en wir uns am Bahnhof auf Gleis 7.",
    ),
    "french": (
        66,
        "Ma sœur a déménagé à Lisbonne en mai et travaille comme infirmière dans un hôpit"
        "al près du fleuve. Elle est allergique aux arachides, alors préviens la cuisine "
        "avant de commander. Vendredi à 18 h 30, nous nous retrouvons à la gare, quai 7.",
    ),
    "chinese": (
        65,
        "我妹妹五月份搬到了里斯本，在河边的一家医院当护士。她对花生过敏，所以点菜之前请告"
        "诉厨房。星期五下午六点半我们在火车站七号站台见面，然后坐火车去波尔图。每张票四十"
        "二块五。",
    ),
    "japanese": (
        61,
        "妹は五月にリスボンへ引っ越して、川の近くの病院で看護師として働いています。ピーナ"
        "ッツアレルギーがあるので、注文する前に厨房に伝えてください。金曜日の十八時半に駅"
        "の七番線で会って、電車でポルトへ行きます。",
    ),
    "korean": (
        59,
        "여동생은 오월에 리스본으로 이사해서 강 근처 병원에서 간호사로 일하고 있"
        "습니다. 땅콩 알레르기가 있으니 주문하기 전에 주방에 알려 주세요. 금요"
        "일 여섯 시 반에 역에서 만나서 기차를 탑니다.",
    ),
    "arabic": (
        58,
        "انتقلت أختي إلى لشبونة في مايو وتعمل ممرضة في مستشفى قرب النهر. لديها حساسية من "
        "الفول السوداني، فأخبر المطبخ قبل أن نطلب أي شيء. يوم الجمعة في السادسة والنصف نل"
        "تقي في المحطة على الرصيف السابع.",
    ),
    "russian": (
        66,
        "Моя сестра в мае переехала в Лиссабон и работает медсестрой в больнице у реки. У"
        " неё аллергия на арахис, поэтому предупреди кухню, прежде чем мы что-нибудь зака"
        "жем. В пятницу в 18:30 мы встречаемся на вокзале, на седьмой платформе.",
    ),
    "hindi": (
        61,
        "मेरी बहन मई में लिस्बन चली गई और नदी के पास एक अस्पताल में नर्स का काम करती है। "
        "उसे मूंगफली से एलर्जी है, इसलिए कुछ भी मंगाने से पहले रसोई को बता देना। शुक्रवार"
        " को साढ़े छह बजे हम स्टेशन पर मिलेंगे।",
    ),
    "thai": (
        53,
        "น้องสาวของฉันย้ายไปลิสบอนในเดือนพฤษภาคมและทำงานเป็นพยาบาลในโรงพยาบาลใกล้แม่น้ำ เ"
        "ธอแพ้ถั่วลิสง ดังนั้นโปรดบอกห้องครัวก่อนที่เราจะสั่งอาหาร วันศุกร์เวลาหกโมงครึ่ง"
        "เราพบกันที่สถานีรถไฟ",
    ),
    "greek": (
        61,
        "Η αδερφή μου μετακόμισε στη Λισαβόνα τον Μάιο και δουλεύει ως νοσοκόμα σε ένα νο"
        "σοκομείο κοντά στο ποτάμι. Είναι αλλεργική στα φιστίκια, γι' αυτό ενημέρωσε την "
        "κουζίνα πριν παραγγείλουμε.",
    ),
    "hebrew": (
        51,
        "אחותי עברה לליסבון במאי ועובדת כאחות בבית חולים ליד הנהר. היא אלרגית לבוטנים, אז"
        " תגיד למטבח לפני שנזמין משהו. ביום שישי בשש וחצי ניפגש בתחנה.",
    ),
}


@pytest.mark.parametrize("language", REFERENCE)
def test_the_estimate_is_near_the_reference_and_not_below(language: str) -> None:
    tokens, text = REFERENCE[language]
    assert tokens <= about_tokens(text) <= 1.35 * tokens


def test_all_of_them_together_are_within_a_fifth() -> None:
    wanted = sum(tokens for tokens, _ in REFERENCE.values())
    assert wanted <= sum(about_tokens(text) for _, text in REFERENCE.values()) <= 1.2 * wanted


def test_what_is_no_language_is_not_counted_low() -> None:
    assert about_tokens("0123456789" * 10) >= 33
    assert about_tokens("aGVsbG8gd29ybGQgdGhpcyBpcyBiYXNlNjQgdGV4dA" * 4) >= 80
    assert about_tokens("\U0001f602" * 50) >= 100


def test_counting_is_linear() -> None:
    began = time.process_time()
    for text in ("a_" * 500_000, "\u6e56" * 3_000_000, " " * 1_000_000, "\u0301" * 1_000_000):
        assert about_tokens(text) > 0
    assert time.process_time() - began < 10


def test_places_are_as_many_as_there_are_tokens_at_most() -> None:
    for tokens, text in REFERENCE.values():
        assert len(estimated_spans([text])[0]) >= tokens
