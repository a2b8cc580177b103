/**
 * Countries by ISO 3166-1 alpha-2 code, with the id by which the partner API knows them and their main time zone.
 * The id is the ISO numeric code, except that Russia is 1, as specified; Kosovo, which has none, is 983 from the
 * range that ISO leaves to its users.
 */
export interface Country {
  code: string
  id: number
  zone: string
}

const table = `
AD 20 Europe/Andorra
AE 784 Asia/Dubai
AF 4 Asia/Kabul
AG 28 America/Antigua
AI 660 America/Anguilla
AL 8 Europe/Tirane
AM 51 Asia/Yerevan
AO 24 Africa/Luanda
AQ 10 Antarctica/McMurdo
AR 32 America/Argentina/Buenos_Aires
AS 16 Pacific/Pago_Pago
AT 40 Europe/Vienna
AU 36 Australia/Sydney
AW 533 America/Aruba
AX 248 Europe/Mariehamn
AZ 31 Asia/Baku
BA 70 Europe/Sarajevo
BB 52 America/Barbados
BD 50 Asia/Dhaka
BE 56 Europe/Brussels
BF 854 Africa/Ouagadougou
BG 100 Europe/Sofia
BH 48 Asia/Bahrain
BI 108 Africa/Bujumbura
BJ 204 Africa/Porto-Novo
BL 652 America/St_Barthelemy
BM 60 Atlantic/Bermuda
BN 96 Asia/Brunei
BO 68 America/La_Paz
BQ 535 America/Kralendijk
BR 76 America/Sao_Paulo
BS 44 America/Nassau
BT 64 Asia/Thimphu
BV 74 Europe/Oslo
BW 72 Africa/Gaborone
BY 112 Europe/Minsk
BZ 84 America/Belize
CA 124 America/Toronto
CC 166 Indian/Cocos
CD 180 Africa/Kinshasa
CF 140 Africa/Bangui
CG 178 Africa/Brazzaville
CH 756 Europe/Zurich
CI 384 Africa/Abidjan
CK 184 Pacific/Rarotonga
CL 152 America/Santiago
CM 120 Africa/Douala
CN 156 Asia/Shanghai
CO 170 America/Bogota
CR 188 America/Costa_Rica
CU 192 America/Havana
CV 132 Atlantic/Cape_Verde
CW 531 America/Curacao
CX 162 Indian/Christmas
CY 196 Asia/Nicosia
CZ 203 Europe/Prague
DE 276 Europe/Berlin
DJ 262 Africa/Djibouti
DK 208 Europe/Copenhagen
DM 212 America/Dominica
DO 214 America/Santo_Domingo
DZ 12 Africa/Algiers
EC 218 America/Guayaquil
EE 233 Europe/Tallinn
EG 818 Africa/Cairo
EH 732 Africa/El_Aaiun
ER 232 Africa/Asmara
ES 724 Europe/Madrid
ET 231 Africa/Addis_Ababa
FI 246 Europe/Helsinki
FJ 242 Pacific/Fiji
FK 238 Atlantic/Stanley
FM 583 Pacific/Pohnpei
FO 234 Atlantic/Faroe
FR 250 Europe/Paris
GA 266 Africa/Libreville
GB 826 Europe/London
GD 308 America/Grenada
GE 268 Asia/Tbilisi
GF 254 America/Cayenne
GG 831 Europe/Guernsey
GH 288 Africa/Accra
GI 292 Europe/Gibraltar
GL 304 America/Nuuk
GM 270 Africa/Banjul
GN 324 Africa/Conakry
GP 312 America/Guadeloupe
GQ 226 Africa/Malabo
GR 300 Europe/Athens
GS 239 Atlantic/South_Georgia
GT 320 America/Guatemala
GU 316 Pacific/Guam
GW 624 Africa/Bissau
GY 328 America/Guyana
HK 344 Asia/Hong_Kong
HM 334 Indian/Kerguelen
HN 340 America/Tegucigalpa
HR 191 Europe/Zagreb
HT 332 America/Port-au-Prince
HU 348 Europe/Budapest
ID 360 Asia/Jakarta
IE 372 Europe/Dublin
IL 376 Asia/Jerusalem
IM 833 Europe/Isle_of_Man
IN 356 Asia/Kolkata
IO 86 Indian/Chagos
IQ 368 Asia/Baghdad
IR 364 Asia/Tehran
IS 352 Atlantic/Reykjavik
IT 380 Europe/Rome
JE 832 Europe/Jersey
JM 388 America/Jamaica
JO 400 Asia/Amman
JP 392 Asia/Tokyo
KE 404 Africa/Nairobi
KG 417 Asia/Bishkek
KH 116 Asia/Phnom_Penh
KI 296 Pacific/Tarawa
KM 174 Indian/Comoro
KN 659 America/St_Kitts
KP 408 Asia/Pyongyang
KR 410 Asia/Seoul
KW 414 Asia/Kuwait
KY 136 America/Cayman
KZ 398 Asia/Almaty
LA 418 Asia/Vientiane
LB 422 Asia/Beirut
LC 662 America/St_Lucia
LI 438 Europe/Vaduz
LK 144 Asia/Colombo
LR 430 Africa/Monrovia
LS 426 Africa/Maseru
LT 440 Europe/Vilnius
LU 442 Europe/Luxembourg
LV 428 Europe/Riga
LY 434 Africa/Tripoli
MA 504 Africa/Casablanca
MC 492 Europe/Monaco
MD 498 Europe/Chisinau
ME 499 Europe/Podgorica
MF 663 America/Marigot
MG 450 Indian/Antananarivo
MH 584 Pacific/Majuro
MK 807 Europe/Skopje
ML 466 Africa/Bamako
MM 104 Asia/Yangon
MN 496 Asia/Ulaanbaatar
MO 446 Asia/Macau
MP 580 Pacific/Saipan
MQ 474 America/Martinique
MR 478 Africa/Nouakchott
MS 500 America/Montserrat
MT 470 Europe/Malta
MU 480 Indian/Mauritius
MV 462 Indian/Maldives
MW 454 Africa/Blantyre
MX 484 America/Mexico_City
MY 458 Asia/Kuala_Lumpur
MZ 508 Africa/Maputo
NA 516 Africa/Windhoek
NC 540 Pacific/Noumea
NE 562 Africa/Niamey
NF 574 Pacific/Norfolk
NG 566 Africa/Lagos
NI 558 America/Managua
NL 528 Europe/Amsterdam
NO 578 Europe/Oslo
NP 524 Asia/Kathmandu
NR 520 Pacific/Nauru
NU 570 Pacific/Niue
NZ 554 Pacific/Auckland
OM 512 Asia/Muscat
PA 591 America/Panama
PE 604 America/Lima
PF 258 Pacific/Tahiti
PG 598 Pacific/Port_Moresby
PH 608 Asia/Manila
PK 586 Asia/Karachi
PL 616 Europe/Warsaw
PM 666 America/Miquelon
PN 612 Pacific/Pitcairn
PR 630 America/Puerto_Rico
PS 275 Asia/Gaza
PT 620 Europe/Lisbon
PW 585 Pacific/Palau
PY 600 America/Asuncion
QA 634 Asia/Qatar
RE 638 Indian/Reunion
RO 642 Europe/Bucharest
RS 688 Europe/Belgrade
RU 1 Europe/Moscow
RW 646 Africa/Kigali
SA 682 Asia/Riyadh
SB 90 Pacific/Guadalcanal
SC 690 Indian/Mahe
SD 729 Africa/Khartoum
SE 752 Europe/Stockholm
SG 702 Asia/Singapore
SH 654 Atlantic/St_Helena
SI 705 Europe/Ljubljana
SJ 744 Arctic/Longyearbyen
SK 703 Europe/Bratislava
SL 694 Africa/Freetown
SM 674 Europe/San_Marino
SN 686 Africa/Dakar
SO 706 Africa/Mogadishu
SR 740 America/Paramaribo
SS 728 Africa/Juba
ST 678 Africa/Sao_Tome
SV 222 America/El_Salvador
SX 534 America/Lower_Princes
SY 760 Asia/Damascus
SZ 748 Africa/Mbabane
TC 796 America/Grand_Turk
TD 148 Africa/Ndjamena
TF 260 Indian/Kerguelen
TG 768 Africa/Lome
TH 764 Asia/Bangkok
TJ 762 Asia/Dushanbe
TK 772 Pacific/Fakaofo
TL 626 Asia/Dili
TM 795 Asia/Ashgabat
TN 788 Africa/Tunis
TO 776 Pacific/Tongatapu
TR 792 Europe/Istanbul
TT 780 America/Port_of_Spain
TV 798 Pacific/Funafuti
TW 158 Asia/Taipei
TZ 834 Africa/Dar_es_Salaam
UA 804 Europe/Kyiv
UG 800 Africa/Kampala
UM 581 Pacific/Wake
US 840 America/New_York
UY 858 America/Montevideo
UZ 860 Asia/Tashkent
VA 336 Europe/Vatican
VC 670 America/St_Vincent
VE 862 America/Caracas
VG 92 America/Tortola
VI 850 America/St_Thomas
VN 704 Asia/Ho_Chi_Minh
VU 548 Pacific/Efate
WF 876 Pacific/Wallis
WS 882 Pacific/Apia
XK 983 Europe/Belgrade
YE 887 Asia/Aden
YT 175 Indian/Mayotte
ZA 710 Africa/Johannesburg
ZM 894 Africa/Lusaka
ZW 716 Africa/Harare
`

export const countries: readonly Country[] = table.trim().split('\n').map(readCountry)

function readCountry(line: string): Country {
  const [code, id, zone] = line.split(' ') as [string, string, string]
  return { code, id: Number(id), zone }
}

const byId = new Map(countries.map(country => [country.id, country]))
const byCode = new Map(countries.map(country => [country.code, country]))
const names = new Intl.DisplayNames('ru', { type: 'region' })

export const countryCodeOf = (countryId: number): string | undefined => byId.get(countryId)?.code

export const countryIdOf = (code: string): number | undefined => byCode.get(code)?.id

export const countryZoneOf = (code: string): string | undefined => byCode.get(code)?.zone

/** In Russian, as the numbering plan names the regions. */
export const countryNameOf = (code: string): string | undefined => (byCode.has(code) ? names.of(code) : undefined)
