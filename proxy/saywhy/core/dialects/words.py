"""What the words of a structured error mean: machine words (`card_declined`) and narrow phrases of messages.

The phrases are read in 4xx JSON and XML messages only, where an API speaks about this very request. They would be far
too wide for a page. Adding one: a row here and a row in the table test, with a look-alike.
"""

from __future__ import annotations

import re2

_TOKENS = {
    "auth_required": "unauthenticated unauthorized unauthorised authentication_error authentication_required authentication_failed "
    "auth_required not_authenticated not_authed login_required invalid_api_key api_key_invalid missing_api_key api_key_missing "
    "invalid_key invalid_token token_expired expired_token expiredtoken token_revoked invalid_auth account_inactive "
    "invalid_access_token access_token_expired invalidclienttokenid unrecognizedclientexception invalidaccesskeyid "
    "signaturedoesnotmatch missingauthenticationtoken missingauthenticationtokenexception incompletesignature "
    "invalidsignatureexception expiredtokenexception invalid_client invalid_grant session_expired sessionexpired badtoken "
    "notloggedin readapidenied mustbeloggedin woocommerce_rest_missing_nonce woocommerce_rest_invalid_nonce rest_not_logged_in "
    "rest_cookie_invalid_nonce authenticationfailed invalidauthenticationtoken autherror noauth assertuserfailed",
    "not_allowed": "forbidden permission_denied permissiondenied access_denied accessdenied accessdeniedexception action_forbidden "
    "not_allowed rest_forbidden unauthorizedoperation operation_not_permitted authorization_failed authorizationfailed blocked "
    "restricted_action not_permitted insufficient_permissions rest_cannot_create rest_cannot_edit rest_cannot_view",
    "scope_missing": "missing_scope insufficient_scope scope_missing missing_scopes access_token_scope_insufficient insufficient_scopes",
    "rate_limited": "request_limit_exceeded rate_limited ratelimited rate_limit rate_limit_error rate_limit_exceeded ratelimitexceeded ratelimitreached "
    "too_many_requests toomanyrequests toomanyrequestsexception throttled throttling throttlingexception "
    "requestlimitexceeded request_limit_exceeded slowdown quota_exceeded quotaexceeded user_rate_limit_exceeded "
    "userratelimitexceeded dailylimitexceeded provisionedthroughputexceededexception limit_exceeded over_query_limit "
    "resource_exhausted requestthrottled throttledexception concurrent_requests_limit_exceeded",
    "payment_declined": "instrument_declined cvv_failure insufficient_account_balance card_declined card_error declined payment_declined payment_failed payment_intent_authentication_failure "
    "insufficient_funds do_not_honor transaction_declined instrument_declined card_velocity_exceeded expired_card "
    "payment_method_declined processor_declined authorization_declined refused",
    "payment_required": "payment_required insufficient_credits insufficient_balance billing_not_active payment_method_required",
    "out_of_stock": "out_of_stock outofstock sold_out soldout insufficient_stock insufficient_inventory not_enough_stock "
    "product_out_of_stock item_out_of_stock no_stock not_in_stock out_of_inventory inventory_unavailable stock_unavailable "
    "woocommerce_rest_product_out_of_stock woocommerce_rest_product_partially_out_of_stock woocommerce_rest_cart_product_no_stock "
    "woocommerce_rest_product_not_purchasable_out_of_stock merchandise_not_enough_stock",
    "needs_human": "captcha_required captcha_needed captcha challenge_required verification_required human_verification_required "
    "checkpoint_required captcha_failed bot_detected",
    "conflict": "conflict already_exists alreadyexists aborted resource_conflict resource_in_use resourceinuse resourceinuseexception "
    "duplicate duplicate_value idempotency_key_reused duplicate_entry conditionalcheckfailedexception conflictexception entityalreadyexists bucketalreadyexists "
    "bucketalreadyownedbyyou editconflict idempotency_error optimistic_lock_failed version_conflict preconditionfailed "
    "deleteconflict operationaborted resourcealreadyexists",
    "not_found": "not_found notfound nosuchkey nosuchbucket nosuchentity nosuchupload resource_not_found resourcenotfoundexception "
    "resourcenotfound missingtitle nosuchpageid rest_no_route channel_not_found user_not_found model_not_found invaliduser "
    "object_not_found notfoundexception nosuchversion",
    "missing_field": "missing_field missing required_field_missing fieldvaluerequired missing_parameter missingparameter parameter_missing parameter_required required "
    "required_field missing_required missing_required_parameter missing_required_field value_error_missing field_required "
    "rest_missing_callback_param missingparam param_missing missing_param invalid_blank blank no_text",
    "temporarily_unavailable": "temporarily_unavailable service_unavailable serviceunavailable unavailable overloaded_error "
    "overloaded readonly maintenance under_maintenance",
    "internal": "internal_server_error internal_error internalerror internal server_error internalfailure internal_api_error unexpected_error",
    "invalid_input": "bad_request badrequest invalid_request invalid_argument invalidargument validation_error validationerror "
    "validation_failed invalid_parameter invalidparameter invalidparametervalue bad_user_input graphql_validation_failed "
    "graphql_parse_failed unsupported_grant_type invalid_scope badvalue invalidinput invalid_input rest_invalid_param "
    "unprocessable_entity unknown_parameter invalid_arguments malformedxml invalidrequest failed_precondition out_of_range",
}  # fmt: skip
_CODE_OF = {token: code for code, tokens in _TOKENS.items() for token in tokens.split()}

_WEAK = frozenset(
    "invalid_request bad_request badrequest validation_error validationerror validation_failed invalid_argument invalid_request_error "
    "unprocessable_entity required duplicate refused declined blocked missing unavailable captcha aborted internal".split()
)
"""Words that are too plain to overrule a status that says something of its own; they count only where it says nothing."""

_NOTHING_SAID = frozenset({400, 403, 405, 406, 409, 417, 418, 420, 422, 424, 456, 499})
"""Statuses behind which APIs put any error. Others (401, 402, 404, 410, 413, 415, 429) name the error themselves."""

_PHRASES: tuple[tuple[str, frozenset[int], str], ...] = (
    ("scope_missing", frozenset({401, 403}), r"required scopes?\b|\bscopes? (?:is|are) required\b|insufficient[ _]scopes?\b|missing[ _](?:required )?scopes?\b|requires? (?:the )?[\w:.*\-\"'` ]{1,80} scopes?\b|(?:lacks?|without|not have) the (?:required |necessary )?[\w:.*\-\"'` ]{0,40}scopes?\b"),
    ("out_of_stock", frozenset({400, 409, 417, 422}), r"\bsold[ -]out\b|\bout[ -]of[ -]stock\b|\b(?:insufficient|not enough|no|low) (?:stock|inventory)\b|\bnot (?:currently )?in stock\b|\bno longer in stock\b|\b(?:requested )?(?:qty|quantity) (?:is )?not available\b|\b(?:product|item|variant|quantity)\b.{0,80}\bis not available\b|\bnot have (?:the )?(?:required|sufficient|enough) (?:stock|inventory)\b|\bexceeds? (?:the )?available (?:stock|inventory|quantity)\b|\bonly \d+ (?:left|remaining|items? (?:left|available)|in stock)\b|ausverkauft|nicht (?:mehr )?(?:vorrätig|auf lager|lieferbar)|rupture de stock|stock insuffisant|en rupture|\bagotad[oa]s?\b|sin existencias|\besgotad[oa]s?\b|fora de estoque|esaurit[oa]|non disponibile in magazzino|uitverkocht|niet op voorraad|wyprzedan|slutsåld|udsolgt|utsolgt|нет в наличии|распродан|在庫切れ|在庫(?:が)?(?:ありません|なし)|売り切れ|无货|缺货|库存不足|已售[完罄]|품절|غير متوفر|نفد|אזל|לא במלאי|ناموجود|موجود نیست|stoc epuizat|nu (?:este|mai este) (?:în|pe) stoc|elfogyott|nincs (?:készleten|raktáron)|изчерпан|не е в наличност|няма наличност|nie je na sklade|vypredan|ni na zalogi|razprodan|(?:nema|nije) na (?:zalihi|stanju)|rasproda[nt]|išparduota|nėra sandėlyje|nav noliktavā|izpārdot|laost otsas|välja müüdud|สินค้าหมด|หมดสต|hết hàng|stok habis|habis terjual|kehabisan stok|εκτός αποθέματος|μη διαθέσιμο|esgotat|sense existències|ausgebucht|закінчи|немає в наявності|нет на складе|brak (?:towaru|w magazynie)|wyprzedan|varastossa ei|loppunut|slut i lager|slutsåld"),
    ("out_of_stock", frozenset({403, 404, 410}), r"\b(?:is|are|was|were|has|have|been|now|already|currently|all|just|completely) (?:\w+ ){0,3}(?:sold[ -]out|out[ -]of[ -]stock)\b|\A\W*(?:sold[ -]out|out[ -]of[ -]stock)\W*\z|\b(?:insufficient|not enough) (?:stock|inventory)\b|\bno(?:t currently|t| longer)? in stock\b|\bonly \d+ (?:left|remaining|in stock)\b|ausverkauft|nicht (?:mehr )?(?:vorrätig|auf lager|lieferbar)|rupture de stock|stock insuffisant|en rupture|\bagotad[oa]s?\b|sin existencias|\besgotad[oa]s?\b|fora de estoque|esaurit[oa]|non disponibile in magazzino|uitverkocht|niet op voorraad|wyprzedan|slutsåld|udsolgt|utsolgt|нет в наличии|распродан|在庫切れ|在庫(?:が)?(?:ありません|なし)|売り切れ|无货|缺货|库存不足|已售[完罄]|품절|غير متوفر|نفد|אזל|לא במלאי|ناموجود|موجود نیست|stoc epuizat|nu (?:este|mai este) (?:în|pe) stoc|elfogyott|nincs (?:készleten|raktáron)|изчерпан|не е в наличност|няма наличност|nie je na sklade|vypredan|ni na zalogi|razprodan|(?:nema|nije) na (?:zalihi|stanju)|rasproda[nt]|išparduota|nėra sandėlyje|nav noliktavā|izpārdot|laost otsas|välja müüdud|สินค้าหมด|หมดสต|hết hàng|stok habis|habis terjual|kehabisan stok|εκτός αποθέματος|μη διαθέσιμο|esgotat|sense existències|ausgebucht|закінчи|немає в наявності|нет на складе|brak (?:towaru|w magazynie)|wyprzedan|varastossa ei|loppunut|slut i lager|slutsåld"),
    ("payment_declined", frozenset({400, 402, 403, 409, 422}), r"\b(?:card|payment|transaction|charge|purchase)s?(?: (?:was|is|has been|were|got))? (?:declined|refused|rejected)\b|\bdeclined by\b|\binsufficient funds\b|\bdo not honou?r\b|\bcard (?:has |is )?expired\b|\bexpired card\b|\bnot enough credit\b|\binsufficient (?:account )?balance on (?:the )?card\b"),
    ("needs_human", frozenset({400, 403, 405, 406, 418, 422, 429}), r"\bcaptcha\b|unusual (?:activity|traffic)|verify (?:that )?you(?:'re| are) (?:a )?human|prove you(?:'re| are) (?:a )?human|not a robot|are you a (?:robot|human)|automated (?:access|queries)|confirm you(?:'re| are) (?:a )?human"),
    ("rate_limited", frozenset({400, 403, 409, 418, 420, 422}), r"\brate[ -]?limit|\btoo many (?:requests|attempts|calls|tries)\b|\bthrottl|\bquota (?:has been )?exceeded\b|\bexceeded (?:your |the )?(?:\w+ ){0,3}quota\b|\babuse detection\b|\brequest limit (?:exceeded|reached)\b|\bslow down\b|\bmax(?:imum)? (?:number of )?(?:\w+ ){0,3}(?:attempts?|requests?|calls?) (?:has been |have been |was |were )?(?:exceeded|reached)\b"),
    ("auth_required", frozenset({400, 403, 422}), r"\bapi[ _-]?key (?:is )?(?:not valid|invalid|missing|required|not found|expired|not provided)|\b(?:invalid|incorrect|missing|no|expired|bad|wrong) (?:or missing )?(?:x-)?api[ _-]?key\b|\b(?:missing|malformed|expired|invalid) (?:or (?:missing|malformed|invalid|expired) )?(?:jwt|access token|auth(?:entication|orization)? (?:token|header)|bearer token|credentials|security token|session)\b|\bmissing key in (?:the )?request header\b|\b(?:access |auth |refresh |id |security |session )?token (?:has |is |was )?(?:already )?(?:expired|revoked|no longer valid)\b|\bjwt (?:has )?expired\b|\bsecurity token .{0,40}invalid\b|\bauthentication (?:credentials were not provided|required|is required|failed|token)\b|\b(?:un|not )authenticated\b|\bsession (?:has |is )?(?:expired|timed out)\b|\bmust be (?:logged|signed) in\b|\b(?:login|log-in|sign-in) (?:is )?required\b|\bplease (?:log|sign) ?in\b|\bno (?:valid )?(?:auth(?:entication)?|authorization) (?:header|token|credentials)\b|\bcredentials (?:are |were )?(?:missing|required|invalid|not provided)\b"),
    ("conflict", frozenset({400, 403, 422}), r"\balready exists?\b|\balready in use\b|\b(?:is|are) currently in use\b|\bhas already been (?:used|redeemed|processed|cancell?ed|refunded|completed|captured)\b|\bwith status ['\"`]?\w+['\"`]?|\bin (?:status|state) ['\"`]\w+['\"`]|\b(?:was|has been) (?:modified|changed|updated) (?:by|since|in)\b|\bconcurrent (?:update|modification)|\bversion (?:mismatch|conflict)\b"),
)  # fmt: skip
_COMPILED = tuple((code, statuses, re2.compile(f"(?i){phrase}")) for code, statuses, phrase in _PHRASES)

_MISSING = re2.compile(
    r"(?i)\b(?:field |value |parameter |property |it |this |argument )?(?:is|are) (?:a )?(?:required|missing|mandatory)\b|\brequired (?:property|field|parameter|type|argument|key|input|option|header|attribute)\b|\bfield required\b|\b\w+ required!?\z"
    r"|\b(?:can(?:'|’|no|&#39;)?t|cannot|can not|may not|must not|should not|mustn't) be (?:blank|empty|null|nil|undefined)\b|\bmissing (?:the )?(?:\w+ ){0,3}(?:parameter|field|argument|property|value|key|header|attribute)\b|\bmissing\b.{0,12}['\"`]\w"
    r"|\b(?:was|were|been|is|are|key) not (?:provided|supplied|present|specified|given|set)\b|\bmust (?:be (?:provided|supplied|present|specified|given|filled)|provide|specify|supply|include)\b|\bmust have (?:required )?property\b|'required' tag\b|\bno value (?:given|provided|supplied)\b|\brequired\.?\z|\A\W{0,2}[\w%]+\W{0,2} is (?:required|missing)\b|\brequired (?:value|fields? (?:is|are) missing)\b|\bmust (?:specify|be defined)\b|\bmissing or the value is empty\b|\brequired argument\b|\bmissing field\b"
    r"|erforderlich|pflichtfeld|(?:muss|müssen) ausgefüllt|(?:darf|sollte) nicht (?:leer|null)|wird benötigt|feld fehlt|obligatoire|requis|doit être rempli|ne (?:peut|doit) (?:pas )?être (?:vide|nul)"
    r"|champ est manquant|requerid|obligatori|(?:puede|debería|debe|pot) (?:estar|ser) (?:vac|en blanc|nul|buit)|richiest|obbligatori|(?:può|dovrebbe) essere (?:vuot|null|lasciat|omess)"
    r"|campo è mancante|verplicht|vereist|verpligtend|ferplicht|(?:niet|nie|net) (?:leeg|leech)|moet (?:opgegeven|ingevuld)|veld ontbreekt|obrigat[óo]ri|preenchid"
    r"|(?:pode|deve|deveria) (?:não )?(?:estar|ser|ficar) (?:vazi|em branco|nul|baleir)|campo está (?:ausente|faltando)|wymagan|(?:może|powinn[ao]) być pust|musi być wypełn"
    r"|pola brakuje|povinn|(?:třeba|musí být) vypln|vyžadován|(?:nemůže|nesmí) být (?:prázdn|null)|pole chyb[íý]|(?:nemôže|nemože|nesmie) byť prázdn|obvezn|obavez"
    r"|ne (?:može|sme|smije|more|bi).{0,24}praz[na]|polje (?:nedostaje|manjka)|mora (?:popuniti|biti (?:unesen|izpolnjen))|мора попунити|не (?:може|сме|смее|трябва).{0,16}праз"
    r"|не сме бити праз|поле(?:то)? (?:отсутствует|липсва|недостига)|не можа быць пуст|не може да е без|задолжителн|задължителн|обязател|не (?:может|должн[оаы]|должен) быть (?:пуст|null)"
    r"|заполн|обов.язков|не (?:може|повинн[оаі]) бути (?:пуст|порожн|null)|заповн|абавязков|запоўн|міндетті|бос бол[мұу]|хоосон (?:байж|орхиж)|kötelező|nem lehet üres"
    r"|mező hiányzik|nu ar trebui să fie goal|câmp este lipsă|nincs megadva|nu poate fi (?:gol|nul|necompl)|trebuie completat|pakollinen|vaaditaan|ei voi olla tyhjä"
    r"|krävs|måste fyllas|(?:får|kan) inte vara (?:tomt|blankt|null)|fältet saknas|kenttä puuttuu|obligatorisk|påkræv|påkrev|skal udfyldes|må fylles|(?:kan|må) ikk?j?e v(?:æ|e)r[ea] (?:tom|blank|null)"
    r"|felte?t? mangler|udelades|fyllast ut|nauðsynleg|þarf að fylla|má ekki vera (?:tóm|aut)|nõuta|nõutud|kohustuslik|olla tühi|on täitmata|on tühi|väli on puudu"
    r"|privalom|negali būti tušč|užpildyt|obligāt|ir nepieciešams|būt tukš|jābūt aizpild|υποχρεωτικ|απαιτείται|απαραίτητ|να είναι (?:κεν|άδει)|λείπει αυτό|zorunlu"
    r"|boş (?:olamaz|bırak|ola bil|qala bil|olmamalı)|gereklidir|doldurulmal|vacibdir|tələb edilir|مطلوب|إجباري|فارغ|الزامی|اجباریست|لازم است|خالی باشد|درکار|لازم ہے"
    r"|ضروری ہے|חובה|להיות ריק|יש להזין תוכן|आवश्यक|अनिवार्य|रिक्त नहीं|खाली नहीं|আবশ্যক|ফাঁকা|আবশ্যিক|จำเป็น|เว้นว่าง|ปล่อยว่าง|ต้องกรอก|bắt buộc|(?:để|bỏ) tr(?:ố|ắ)ng"
    r"|không thể rỗng|được phép rỗng|wajib|harus diisi|tidak boleh (?:kosong|null|dikosong|dibiarkan kosong)|medan ini diperlukan|აუცილებელი|պարտադիր|դատարկ|domosdoshm"
    r"|zbrazët|e paplotësuar|e kërkuar|beharrezko|derrigorrezko|必須(?:で|項|入|フ|的[。.]|$)|必填|必需|入力してください|空にできません|空で(?:は|あって)|欠落し|字段缺失|不(?:能|应|可|應)(?:为|為|留)?空|请填写|请输入"
    r"|請填寫|請輸入|필수|값이 있어야|blank일 수 없|입력해|반드시 필요|빈 칸"
)  # fmt: skip

_INVALID = re2.compile(
    r"(?i)\ba valid\b[\w ,\-]{0,60}\b(?:required|expected|needed)\b|\bvalides? (?:est|sont) requis|\brequisi?t?o? .{0,20}\bvalid[oi]\b|\brichiest[oai] .{0,30}\bvalid[oi]\b"
    r"|gültig|kleiner|größer|mindestens|höchstens|geldig|giltig|gyldig|poprawn|prawidłow|platn|správn|veljav|érvény|kelvol|kelpaa|elvollinen|eçərli|celé číslo|číslo|मान्य|वैध|पूर्णांक|जास्त|कमी|文字を|kehti|geçer|doğru|hợp lệ|корректн|правильн|коректн|дійсн|валідн|有効|正し|数値|整数を|整数で|有效|合法|正确|正確|數字|整數|大於|唯一|올바른|유효|숫자를|정수를|이하|이상|صالح|صحيح|معتبر|תקין|חוקי|έγκυρ|ถูกต้อง|yang sah|valide est requis|valide requis|válid|valido"
)
"""A valid number is required: the field is there, and what is in it is wrong."""

_FIELD_FORMS = tuple(
    re2.compile(form)
    for form in (
        r"(?i)\bfield ['\"`](\w+)['\"`] of required type\b",
        r"(?i)(?:required|additional|unknown|missing) (?:property|properties|field|parameter|key|argument|option)s?:? ['\"`]([\w.\[\]\-]+)['\"`]",
        r"(?i)(?:missing|unknown|invalid|unrecognized|unexpected|required)(?: (?:query|body|path|required|request|form|url|string|header))* (?:parameter|field|param|argument|property|option|key)(?:\(s\)|s)?:? ['\"`]?([A-Za-z_][\w.\[\]\-]*[\w\]])['\"`]?",
        r"(?i)\b(?:field|parameter|param|property|argument|attribute|variable|option)s? (?:named |called )?['\"`]\$?([\w.\[\]\-]+)['\"`]",
        r"(?i)['\"`]([A-Za-z_][\w.\[\]\-]*)['\"`] (?:parameter|field|param|property|argument|attribute)\b",
        r"(?i)\A['\"`]([A-Za-z_][\w.\[\]\-]*)['\"`] (?:is (?:a )?(?:required|missing|invalid|not (?:allowed|valid|a valid|permitted))|must|should|length|contains|fails|with value|failed|cannot|may not)\b",
        r"(?i)\bArgument ['\"`](?:[\w.]+\()?(\w+):?\)?['\"`] (?:of|is)\b",
        r"(?i)\bfield validation for ['\"`](\w+)['\"`]",
        r"(?i)\bmissing (?:required )?(?:parameter|field|param)(?:\(s\)|s)?: ([\w.\[\]\-]+)",
        r"(?i)\A(?:the )?([a-z][a-z0-9]*(?:_[a-z0-9]+)*) (?:must (?:be|not|have|contain|match)|should not be|is required|field is required|can't be blank|cannot be blank|is invalid\b)",
        r"(?i)\bElement ['\"`](?:\{[^}]*\})?(\w+)['\"`]:?",
        r"(?i)\bfor ['\"`]([\w.\[\]\-]+)['\"`]: expected\b",
        r"(?i)\bkey ['\"`](\w+)['\"`] (?:is )?(?:missing|required|not found)",
        r" - '([\w.\[\]]+)'\z",
        r"(?i)\A([a-z_]\w*) is (?:missing|required)\b",
        r"(?i)\bfield name: ['\"`](\w+)['\"`]",
        r"(?i)\bvalue is empty: (\w+)",
        r"(?i)\bmissing field [`'\"](\w+)[`'\"]",
        r"(?i)(?:\A|[:\s])([a-z_][\w.\[\]]*): (?:field required|missing required|value is not a valid|input should be)",
        r"(?i)\brequired (?:input|option|value|attribute|header) ['\"`]([\w.\[\]\-]+)['\"`]",
        r"\A(?:body|querystring|params|headers)/([\w/]*\w) must\b",
    )
)
_NO_FIELDS = frozenset(
    "it this that value request body data input payload form json the a an id_token is and or in for must should query object you "
    "authentication authorization api".split()
)
_QUOTES = ("'", '"', "`")
_SCOPES = re2.compile(
    r"(?i)(?:required |missing |insufficient )?scopes?(?: required| needed| missing)?(?::| is| are|=) *['\"`\[]*((?:[\w.*\-/]+(?::[\w.*\-/]+)*)(?:[, ]+[\w.*\-/]+:[\w.*\-/:]+)*)"
)


def token(word: str) -> str:
    """A machine word in the form of the table: camel case, dots, spaces and dashes as in `rate_limit_exceeded`."""
    return "".join(letter if letter.isalnum() else "_" for letter in word.strip().lower())[:80].strip("_")


def code_of(word: object, status: int) -> str | None:
    """The code that a machine word names, None where it names none or the status says more."""
    if not isinstance(word, str) or not word.strip() or len(word) > 80:
        return None
    name = token(word.rpartition("#")[2].rpartition("/")[2])
    for form in (name, name.replace("_", "")):
        code = _CODE_OF.get(form)
        if code is not None:
            break
    else:
        return None
    weak = name in _WEAK or code in (
        "invalid_input",
        "internal",
        "temporarily_unavailable",
        "not_allowed",
        "missing_field",
        "conflict",
        "not_found",
    )
    return None if weak and status >= 400 and status not in _NOTHING_SAID else code


def code_in(message: str, status: int) -> str | None:
    """The code that a message of an error with `status` (400-499) names in plain words, or None."""
    head = message[:600]
    for code, statuses, phrase in _COMPILED:
        if status in statuses and phrase.search(head):
            return code
    return None


def says_missing(message: str) -> bool:
    """Whether a message about a field says that it was not given."""
    head = message[:400]
    return _MISSING.search(head) is not None and _INVALID.search(head) is None


def field_in(message: str) -> str | None:
    """The field that a message names, where it does so in one of the usual forms."""
    for form in _FIELD_FORMS:
        found = form.search(message[:400])
        if found and (
            found.group(1).lower() not in _NO_FIELDS
            or message[found.start(1) - 1 : found.start(1)] in _QUOTES
        ):
            return str(found.group(1)).replace("/", ".")
    return None


def scopes_in(message: str) -> tuple[str, ...]:
    """The scopes that a message names after the word."""
    found = _SCOPES.search(message[:400])
    if not found:
        return ()
    return tuple(
        one for one in found.group(1).replace(",", " ").split() if ":" in one or "." in one or "/" in one
    )[:10]
