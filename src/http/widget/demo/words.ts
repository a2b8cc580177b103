export type Language = 'en' | 'ru'

type Words = {
  title: string
  note: string
  brand: string
  otherLanguage: string
  theme: string
  heading: string
  lead: string
  steps: [string, string, string]
  number: string
  hint: string
  next: string
  otherNumber: string
  done: string
  doneText: string
  behind: string
  flow: string[]
  phone: string
  phoneText: string
  phoneEmpty: string
  server: string
  serverText: string
  serverEmpty: string
  more: string
  noScript: string
  notBuilt: string
  wrongNumber: string
  channels: Record<string, string>
}

export const words: Record<Language, Words> = {
  en: {
    title: 'Harbour Library: demo of the Tidings widget',
    note: 'A demo: simulated operators take every code, and no real message is sent.',
    brand: 'Harbour Library',
    otherLanguage: 'Русский',
    theme: 'Theme',
    heading: 'Get your library card',
    lead: 'Borrow books, films and instruments at every branch. We only need your phone number, and the card is ready at once.',
    steps: ['Your number', 'The code', 'Your card'],
    number: 'Mobile number',
    hint: 'Any Russian mobile number works. The simulated operators refuse codes for numbers that end in 0004.',
    next: 'Continue',
    otherNumber: 'Use another number',
    done: 'Your card is ready',
    doneText: 'The server of this page asked Tidings, which confirmed the number',
    behind: 'What happens behind the page',
    flow: [
      'The widget passes the captcha and gets a key from Tidings.',
      'The page hands the key to its own server, which calls widget/send with its API key.',
      'Tidings sends the code by the channel that the visitor chose.',
      'The visitor types the code into the widget, and Tidings checks it.',
      'The server of the page calls widget/check and learns the confirmed number.',
    ],
    phone: "The visitor's phone",
    phoneText: 'What the simulated operator got. Outside of a demo only the owner of the phone sees it.',
    phoneEmpty: 'No code yet.',
    server: 'The server of this page',
    serverText: 'Its calls to Tidings, with the answers. The API key never reaches the browser.',
    serverEmpty: 'No call yet.',
    more: 'API reference',
    noScript: 'This page needs JavaScript.',
    notBuilt: 'The widget is not built yet: run npm run build:widget in the folder of the project, and reload.',
    wrongNumber: 'Enter a mobile number with its country code, such as +7 916 000-00-01.',
    channels: { SMS: 'SMS', VOICECODE: 'Voice call', FLASHCALL: 'Call from a number', TELEGRAM_GATEWAY: 'Telegram' },
  },
  ru: {
    title: 'Библиотека «Гавань»: демонстрация виджета Tidings',
    note: 'Это демонстрация: коды принимают имитаторы операторов, настоящие сообщения не отправляются.',
    brand: 'Библиотека «Гавань»',
    otherLanguage: 'English',
    theme: 'Тема',
    heading: 'Получите читательский билет',
    lead: 'Берите книги, фильмы и инструменты в любом филиале. Нужен только номер телефона, билет будет готов сразу.',
    steps: ['Ваш номер', 'Код', 'Ваш билет'],
    number: 'Мобильный номер',
    hint: 'Подойдёт любой российский мобильный номер. Для номеров с окончанием 0004 имитаторы операторов код не примут.',
    next: 'Продолжить',
    otherNumber: 'Указать другой номер',
    done: 'Билет готов',
    doneText: 'Сервер этой страницы спросил Tidings, и номер подтверждён',
    behind: 'Что происходит за страницей',
    flow: [
      'Виджет проходит капчу и получает от Tidings ключ.',
      'Страница передаёт ключ своему серверу, и сервер вызывает widget/send со своим ключом API.',
      'Tidings отправляет код по каналу, который выбрал посетитель.',
      'Посетитель вводит код в виджет, Tidings его проверяет.',
      'Сервер страницы вызывает widget/check и узнаёт подтверждённый номер.',
    ],
    phone: 'Телефон посетителя',
    phoneText: 'Что получил имитатор оператора. Вне демонстрации это видит только владелец телефона.',
    phoneEmpty: 'Кода пока нет.',
    server: 'Сервер этой страницы',
    serverText: 'Его вызовы Tidings и ответы. Ключ API в браузер не попадает.',
    serverEmpty: 'Вызовов пока нет.',
    more: 'Справочник API',
    noScript: 'Для этой страницы нужен JavaScript.',
    notBuilt: 'Виджет ещё не собран: выполните npm run build:widget в папке проекта и обновите страницу.',
    wrongNumber: 'Введите мобильный номер с кодом страны, например +7 916 000-00-01.',
    channels: { SMS: 'SMS', VOICECODE: 'Голосовой звонок', FLASHCALL: 'Звонок с номера', TELEGRAM_GATEWAY: 'Telegram' },
  },
}
