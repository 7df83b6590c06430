"""Charsets: mark, header, the page's own word, a guess; labels as the Encoding Standard reads them."""

import pytest

from saywhy.core.model import Fields
from saywhy.core.page import charset, read

GERMAN = "<p>Für später: nicht vorrätig – „schade“, 5 €</p>"
RUSSIAN = "<p>Этого товара нет в наличии. Попробуйте позже или выберите другой товар из нашего каталога.</p>"
JAPANESE = "<p>申し訳ありません。この商品は在庫切れです。またお越しください。</p>"
CHINESE = "<p>很抱歉，该商品已售罄，请选择其他商品。</p>"


def text(body: bytes, content_type: str = "text/html") -> str:
    return read(Fields.of({"content-type": content_type}), body).text


def plain(markup: str) -> str:
    return markup.removeprefix("<p>").removesuffix("</p>")


@pytest.mark.parametrize(
    ("markup", "codec", "label"),
    [
        (GERMAN, "utf-8", "utf-8"),
        (GERMAN, "utf-8", '"UTF8"'),
        (GERMAN, "cp1252", "iso-8859-1"),
        (GERMAN, "cp1252", "latin1"),
        (GERMAN, "cp1252", "us-ascii"),
        (GERMAN, "cp1252", "windows-1252"),
        (RUSSIAN, "cp1251", "Windows-1251"),
        (RUSSIAN, "koi8-r", "koi8-r"),
        (JAPANESE, "cp932", "Shift_JIS"),
        (JAPANESE, "euc_jp", "euc-jp"),
        (JAPANESE, "iso2022_jp", "iso-2022-jp"),
        (CHINESE, "gb18030", "gb2312"),
        (CHINESE, "gb18030", "gbk"),
        ("<p>這項商品已售完</p>", "big5", "big5"),
        ("<p>품절되었습니다</p>", "cp949", "euc-kr"),
        ("<p>Tükendi İstanbul</p>", "cp1254", "iso-8859-9"),
    ],
)
def test_label_in_header_and_in_page(markup, codec, label):
    body = markup.encode(codec)
    assert text(body, f"text/html; charset={label}") == plain(markup)
    bare = label.strip('"')
    assert text(f'<meta charset="{bare}">'.encode() + body) == plain(markup)
    assert text(
        f"<meta http-equiv=Content-Type content='text/html; charset={bare}'>".encode() + body
    ) == plain(markup)
    assert text((f"<!--{'x' * 1200}--><meta charset={bare}>").encode() + body) == plain(markup)


@pytest.mark.parametrize(
    ("codec", "mark"), [("utf-8", b"\xef\xbb\xbf"), ("utf-16-le", b"\xff\xfe"), ("utf-16-be", b"\xfe\xff")]
)
def test_mark_beats_header(codec, mark):
    assert text(mark + RUSSIAN.encode(codec), "text/html; charset=windows-1252") == plain(RUSSIAN)


def test_header_beats_page():
    assert text(b"<meta charset=utf-8>" + RUSSIAN.encode("cp1251"), "text/html; charset=cp1251") == plain(
        RUSSIAN
    )


@pytest.mark.parametrize(
    "label",
    [
        "punycode",
        "rot13",
        "zlib",
        "idna",
        "unicode_escape",
        "utf-7",
        "hex",
        "undefined",
        "no-such",
        "",
        "\x00",
        "x" * 500,
    ],
)
def test_labels_nobody_means_are_passed_over(label):
    read_page = read(Fields.of({"content-type": f"text/html; charset={label}"}), GERMAN.encode())
    assert (read_page.text, read_page.fault) == (plain(GERMAN), "")


@pytest.mark.parametrize(
    ("markup", "codec"), [(RUSSIAN, "cp1251"), (JAPANESE, "cp932"), (JAPANESE, "euc_jp")]
)
@pytest.mark.parametrize("content_type", ["text/html", "text/html; charset=utf-8"])
def test_wrong_or_no_label_is_guessed(markup, codec, content_type):
    read_page = read(Fields.of({"content-type": content_type}), (markup * 4).encode(codec))
    assert read_page.fault == "charset"
    assert plain(markup)[:6] in read_page.text


def test_one_broken_byte_does_not_change_the_charset():
    read_page = read(
        Fields.of({"content-type": "text/html; charset=utf-8"}), (RUSSIAN * 3).encode() + b"\xff"
    )
    assert read_page.fault == "charset"
    assert plain(RUSSIAN) in read_page.text


def test_a_character_cut_in_two_is_no_fault():
    body = RUSSIAN.encode()[:-6]
    for cut in range(len(body) - 5, len(body)):
        read_page = read(Fields.of({"content-type": "text/html; charset=utf-8"}), body[:cut], complete=False)
        assert read_page.fault == ""
        assert "\ufffd" not in read_page.source


def test_meta_utf16_means_utf8():
    assert text(b"<meta charset=utf-16>" + GERMAN.encode()) == plain(GERMAN)


def test_replacement_characters_of_the_site_are_no_fault():
    assert read(Fields.of({"content-type": "text/html"}), "<p>caf\ufffd</p>".encode()).fault == ""


@pytest.mark.parametrize("byte", range(128))
def test_ascii_means_itself_whatever_the_label(byte):
    """As each codec reads it; the shifts of ISO-2022, and UTF-16, are read by their codecs alone."""
    body = b"<p>" + bytes([byte]) * 4 + b"plain, ~ and \\</p>"
    for label, codec in charset._CODECS.items():
        said = charset.to_text(body, f"text/html; charset={label}")
        assert said.text == body.decode(codec, "replace")
        meta = b"<meta charset=%s>" % label.encode() + body
        assert charset.to_text(meta, "text/html").text == meta.decode(
            "utf-8" if "utf-16" in codec else codec, "replace"
        )
