"""Bytes -> text: by byte order mark, then the header, then the page's own word, then a guess on a sample.

Labels read as the WHATWG Encoding Standard reads them (iso-8859-1 means windows-1252). Only the codecs named here can
be reached: a site never gets to pick Python's punycode or zlib.
"""

from typing import NamedTuple

import re2

_SAMPLE_BYTES = 4096
"""Enough for a guess; the cost of guessing grows faster than the sample."""

_META_BYTES = 2048
"""The HTML Standard asks for the first 1024 bytes; comments before the head push real pages past that."""

_FEW_BROKEN = 200
"""One character in so many may be broken before the label is doubted."""

_GROUPS = {
    "utf-8": "utf-8 utf8 unicode-1-1-utf-8 unicode11utf8 unicode20utf8 x-unicode20utf8",
    "cp1252": "windows-1252 cp1252 x-cp1252 iso-8859-1 iso8859-1 iso_8859-1 iso88591 latin1 latin-1 l1 ascii us-ascii "
    "ansi_x3.4-1968 cp819 ibm819 iso-ir-100 csisolatin1",
    "cp1250": "windows-1250 cp1250 x-cp1250",
    "cp1251": "windows-1251 cp1251 x-cp1251",
    "cp1253": "windows-1253 cp1253 x-cp1253",
    "cp1254": "windows-1254 cp1254 x-cp1254 iso-8859-9 iso8859-9 iso88599 latin5 l5",
    "cp1255": "windows-1255 cp1255 x-cp1255",
    "cp1256": "windows-1256 cp1256 x-cp1256",
    "cp1257": "windows-1257 cp1257 x-cp1257",
    "cp1258": "windows-1258 cp1258 x-cp1258",
    "cp874": "windows-874 dos-874 iso-8859-11 iso8859-11 tis-620",
    "cp866": "ibm866 cp866 866",
    "iso8859-2": "iso-8859-2 iso8859-2 iso88592 latin2 l2",
    "iso8859-3": "iso-8859-3 iso8859-3 latin3 l3",
    "iso8859-4": "iso-8859-4 iso8859-4 latin4 l4",
    "iso8859-5": "iso-8859-5 iso8859-5 cyrillic",
    "iso8859-6": "iso-8859-6 iso8859-6 arabic",
    "iso8859-7": "iso-8859-7 iso8859-7 greek greek8",
    "iso8859-8": "iso-8859-8 iso8859-8 iso-8859-8-i hebrew visual logical",
    "iso8859-10": "iso-8859-10 iso8859-10 latin6 l6",
    "iso8859-13": "iso-8859-13 iso8859-13",
    "iso8859-14": "iso-8859-14 iso8859-14",
    "iso8859-15": "iso-8859-15 iso8859-15 latin-9 l9",
    "iso8859-16": "iso-8859-16",
    "koi8-r": "koi8-r koi8 koi koi8_r",
    "koi8-u": "koi8-u koi8-ru",
    "mac-roman": "macintosh mac x-mac-roman",
    "mac-cyrillic": "x-mac-cyrillic x-mac-ukrainian",
    "gb18030": "gb18030 gbk gb2312 gb_2312 gb_2312-80 chinese x-gbk",
    "big5hkscs": "big5 big5-hkscs cn-big5 x-x-big5",
    "euc_jp": "euc-jp x-euc-jp",
    "iso2022_jp": "iso-2022-jp",
    "cp932": "shift_jis shift-jis sjis ms932 ms_kanji windows-31j x-sjis",
    "cp949": "euc-kr korean ks_c_5601-1987 ks_c_5601-1989 ksc5601 ksc_5601 windows-949",
    "utf-16-le": "utf-16 utf-16le unicode ucs-2 iso-10646-ucs-2",
    "utf-16-be": "utf-16be",
}
_CODECS = {label: codec for codec, labels in _GROUPS.items() for label in labels.split()}

_CODECS_GUESSED = {codec.replace("-", "_"): codec for codec in _GROUPS} | {
    "shift_jis": "cp932", "shift_jis_2004": "cp932", "shift_jisx0213": "cp932", "euc_jis_2004": "euc_jp",
    "euc_jisx0213": "euc_jp", "gbk": "gb18030", "gb2312": "gb18030", "hz": "gb18030", "big5": "big5hkscs",
    "cp950": "big5hkscs", "euc_kr": "cp949", "johab": "cp949", "latin_1": "cp1252", "mac_cyrillic": "mac-cyrillic",
}  # fmt: skip
"""What charset-normalizer may call a codec (Python's names, and supersets that no site means) -> ours."""

_MARKS = ((b"\xef\xbb\xbf", "utf-8"), (b"\xff\xfe", "utf-16-le"), (b"\xfe\xff", "utf-16-be"))

_SAID = re2.compile(
    rb"""(?i)(?:<meta[^>]*?charset|<\?xml[^>]*?encoding)\s*=\s*["']?\s*([a-z0-9_.:-]{2,40})"""
)


class Decoded(NamedTuple):
    """`fault`: "" or "charset" (the bytes are not what the label says; broken ones became U+FFFD)."""

    text: str
    fault: str = ""


def codec_of(label: str | None) -> str | None:
    """The codec that a charset label means, or None for a label that nobody knows."""
    return _CODECS.get(label.strip().strip("\"'").lower()) if label else None


def label_in(content_type: str) -> str | None:
    """The charset parameter of a Content-Type value (RFC 9110 8.3.2), unread."""
    for part in content_type.split(";")[1:]:
        name, _, value = part.partition("=")
        if name.strip().lower() == "charset":
            return value
    return None


def _said_by_page(data: bytes) -> str | None:
    found = _SAID.search(data[:_META_BYTES])
    codec = codec_of(found.group(1).decode("ascii")) if found else None
    # A page that can say so in ASCII is not UTF-16 (HTML Standard 13.2.3.2).
    return "utf-8" if codec and codec.startswith("utf-16") else codec


def _guess(data: bytes) -> str | None:
    # Two megabytes of tables, for pages that lie about their charset: most processes never meet one.
    import charset_normalizer

    sample = data[:_SAMPLE_BYTES]
    best = charset_normalizer.from_bytes(sample, steps=4, chunk_size=512, preemptive_behaviour=False).best()
    return _CODECS_GUESSED.get(best.encoding) if best else None


def _is_plain(data: bytes, content_type: str) -> bool:
    """Whether ASCII means itself in `data`, whatever the page may say of its charset: everywhere but in UTF-16, which a
    page cannot say in ASCII, and behind the shifts of ISO-2022.
    """
    label = label_in(content_type)
    if label is not None and (codec_of(label) or "").startswith(("utf-16", "iso2022")):
        return False
    return b"\x1b" not in data and b"\x0e" not in data and b"\x0f" not in data


def to_text(data: bytes, content_type: str, *, truncated: bool = False) -> Decoded:
    """`data` as text. A character that was cut in two by truncation is left out and no fault."""
    if data.isascii() and _is_plain(data, content_type):
        return Decoded(data.decode("ascii"))
    codec = None
    for mark, named in _MARKS:
        if data.startswith(mark):
            data, codec = data[len(mark) :], named
            break
    codec = codec or codec_of(label_in(content_type)) or _said_by_page(data) or "utf-8"
    text = data.decode(codec, "replace")
    if truncated and text.endswith("\ufffd"):
        text = text[:-1]
    broken = text.count("\ufffd")
    if not broken or codec.startswith(("cp125", "iso8859")):
        return Decoded(text)
    if codec != "utf-8" or broken <= max(2, len(text) // _FEW_BROKEN):
        # U+FFFD may have been in the page itself; then nothing is wrong with it.
        return Decoded(text, "" if codec == "utf-8" and data.count(b"\xef\xbf\xbd") == broken else "charset")
    return Decoded(data.decode(_guess(data) or "cp1252", "replace"), "charset")
