/** A region as subscribers know it: its name and the zone of its clocks. */
export interface Region {
  code: string
  name: string
  zone: string
}

export const wholeCountry: Region = { code: '00', name: 'Российская Федерация', zone: 'Europe/Moscow' }

/**
 * By code of the state address register. A region with several zones has the one where most people live. Ranges
 * may belong to two regions ("77+50"): the cities stand first, so that they come first in such a name.
 */
const table = `
77 Europe/Moscow      Москва
78 Europe/Moscow      Санкт-Петербург
01 Europe/Moscow      Республика Адыгея
02 Asia/Yekaterinburg Республика Башкортостан
03 Asia/Irkutsk       Республика Бурятия
04 Asia/Barnaul       Республика Алтай
05 Europe/Moscow      Республика Дагестан
06 Europe/Moscow      Республика Ингушетия
07 Europe/Moscow      Кабардино-Балкарская Республика
08 Europe/Moscow      Республика Калмыкия
09 Europe/Moscow      Карачаево-Черкесская Республика
10 Europe/Moscow      Республика Карелия
11 Europe/Moscow      Республика Коми
12 Europe/Moscow      Республика Марий Эл
13 Europe/Moscow      Республика Мордовия
14 Asia/Yakutsk       Республика Саха (Якутия)
15 Europe/Moscow      Республика Северная Осетия - Алания
16 Europe/Moscow      Республика Татарстан
17 Asia/Krasnoyarsk   Республика Тыва
18 Europe/Samara      Удмуртская Республика
19 Asia/Krasnoyarsk   Республика Хакасия
20 Europe/Moscow      Чеченская Республика
21 Europe/Moscow      Чувашская Республика - Чувашия
22 Asia/Barnaul       Алтайский край
23 Europe/Moscow      Краснодарский край
24 Asia/Krasnoyarsk   Красноярский край
25 Asia/Vladivostok   Приморский край
26 Europe/Moscow      Ставропольский край
27 Asia/Vladivostok   Хабаровский край
28 Asia/Yakutsk       Амурская область
29 Europe/Moscow      Архангельская область
30 Europe/Astrakhan   Астраханская область
31 Europe/Moscow      Белгородская область
32 Europe/Moscow      Брянская область
33 Europe/Moscow      Владимирская область
34 Europe/Volgograd   Волгоградская область
35 Europe/Moscow      Вологодская область
36 Europe/Moscow      Воронежская область
37 Europe/Moscow      Ивановская область
38 Asia/Irkutsk       Иркутская область
39 Europe/Kaliningrad Калининградская область
40 Europe/Moscow      Калужская область
41 Asia/Kamchatka     Камчатский край
42 Asia/Novokuznetsk  Кемеровская область - Кузбасс
43 Europe/Kirov       Кировская область
44 Europe/Moscow      Костромская область
45 Asia/Yekaterinburg Курганская область
46 Europe/Moscow      Курская область
47 Europe/Moscow      Ленинградская область
48 Europe/Moscow      Липецкая область
49 Asia/Magadan       Магаданская область
50 Europe/Moscow      Московская область
51 Europe/Moscow      Мурманская область
52 Europe/Moscow      Нижегородская область
53 Europe/Moscow      Новгородская область
54 Asia/Novosibirsk   Новосибирская область
55 Asia/Omsk          Омская область
56 Asia/Yekaterinburg Оренбургская область
57 Europe/Moscow      Орловская область
58 Europe/Moscow      Пензенская область
59 Asia/Yekaterinburg Пермский край
60 Europe/Moscow      Псковская область
61 Europe/Moscow      Ростовская область
62 Europe/Moscow      Рязанская область
63 Europe/Samara      Самарская область
64 Europe/Saratov     Саратовская область
65 Asia/Sakhalin      Сахалинская область
66 Asia/Yekaterinburg Свердловская область
67 Europe/Moscow      Смоленская область
68 Europe/Moscow      Тамбовская область
69 Europe/Moscow      Тверская область
70 Asia/Tomsk         Томская область
71 Europe/Moscow      Тульская область
72 Asia/Yekaterinburg Тюменская область
73 Europe/Ulyanovsk   Ульяновская область
74 Asia/Yekaterinburg Челябинская область
75 Asia/Chita         Забайкальский край
76 Europe/Moscow      Ярославская область
79 Asia/Vladivostok   Еврейская автономная область
83 Europe/Moscow      Ненецкий автономный округ
86 Asia/Yekaterinburg Ханты-Мансийский автономный округ - Югра
87 Asia/Anadyr        Чукотский автономный округ
89 Asia/Yekaterinburg Ямало-Ненецкий автономный округ
90 Europe/Moscow      Запорожская область
91 Europe/Simferopol  Республика Крым
92 Europe/Simferopol  Севастополь
93 Europe/Moscow      Донецкая Народная Республика
94 Europe/Moscow      Луганская Народная Республика
95 Europe/Moscow      Херсонская область
99 Asia/Qyzylorda     Байконур
`

export const regions: readonly Region[] = [...table.trim().split('\n').map(readRegion), wholeCountry]

function readRegion(line: string): Region {
  const [, code, zone, name] = /^(\S+) (\S+) +(.+)$/.exec(line) as unknown as [string, string, string, string]
  return { code, name, zone }
}

/**
 * The code of the territory that the register names: "Краснодарский край" is 23, "г. Псков|Псковская обл." 60,
 * "Московская область * Москва" 77+50. Nothing when it names no region we know.
 */
export function regionCodeOf(territory: string): string | undefined {
  const widest = territory.slice(territory.lastIndexOf('|') + 1)
  const named = widest.split(/[*,]|\sи\s/).flatMap(name => byWord.get(firstWord(name)) ?? [])
  const inOrder = [...new Set(named)].sort((a, b) => regions.indexOf(a) - regions.indexOf(b))
  return inOrder.map(region => region.code).join('+') || undefined
}

/** Spellings differ in what surrounds it, but the first word of a region's own name tells it from all others. */
const firstWord = (name: string) => ownName.exec(name.trim().toLowerCase())?.[1] ?? ''
const ownName = /^(?:город\s+|г\.\s*|республика\s+)?([а-яё]+)/

const byWord = new Map(regions.map(region => [firstWord(region.name), region]))
const byCode = new Map(regions.map(region => [region.code, region]))

/** The region of a code; words that are no code are a region we do not know, with the capital's clocks. */
export function regionOf(code: string): Region {
  const parts = code.split('+').map(part => byCode.get(part))
  if (parts.includes(undefined)) return { code, name: code, zone: wholeCountry.zone }
  return { code, name: parts.map(part => part!.name).join(' и '), zone: parts[0]!.zone }
}
