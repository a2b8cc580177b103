export type Lang = 'en' | 'ru'

/** Text between two asterisks is bold. `.one`, `.few` and `.many` are plural forms. */
const en = {
  label: 'Phone number verification',
  phone: 'the number ending in {last2}',
  'start.title': 'Confirm your number',
  'start.text': 'We will send a code to this number. It takes less than a minute.',
  'start.text.call': 'We will call this number. It takes less than a minute.',
  'start.to': 'We will send a code to {number}',
  'start.to.call': 'We will call {number}',
  'start.send': 'Send the code',
  'start.call': 'Call me',
  'start.by': 'Code via {way}',
  'start.by.call': 'By phone call',
  'captcha.running': 'Checking that you are not a robot…',
  'captcha.done': 'Check passed',
  sending: 'Sending…',
  calling: 'Calling…',
  checking: 'Checking…',
  'code.title': 'Enter the code',
  'code.input.few': 'Code, {n} digits',
  'code.input.many': 'Code, {n} digits',
  'code.confirm': 'Confirm',
  'code.SMS': 'We sent it by SMS to {number}',
  'code.TELEGRAM': 'We sent it in Telegram to {number}',
  'code.WHATSAPP': 'We sent it in WhatsApp to {number}',
  'code.VIBER': 'We sent it in Viber to {number}',
  'voice.title': 'Answer our call',
  'voice.text': 'A voice will read out the code. Calling {number}',
  'flash.title': 'No need to answer',
  'flash.text': 'Enter the last 4 digits of the number that calls you on {number}',
  'flash.input': 'The last 4 digits of the number that calls you',
  'flash.example': 'For example: +7 495 123\u2011**45\u201167**',
  'again.wait': 'Send again in {time}',
  again: 'Send again',
  'again.call.wait': 'Call again in {time}',
  'again.call': 'Call again',
  ways: 'Another way',
  'ways.title': 'Another way',
  'ways.back': 'Back',
  'way.SMS': 'SMS',
  'way.FLASHCALL': 'Call',
  'way.FLASHCALL.hint': 'no need to answer',
  'way.VOICECODE': 'Voice call',
  'way.VOICECODE.hint': 'reads out the code',
  'way.TELEGRAM': 'Telegram',
  'way.WHATSAPP': 'WhatsApp',
  'way.VIBER': 'Viber',
  'way.wait': 'in {time}',
  'code.short.few': 'Enter all {n} digits',
  'code.short.many': 'Enter all {n} digits',
  'wrong.one': 'Wrong code. {n} try left',
  'wrong.few': 'Wrong code. {n} tries left',
  'wrong.many': 'Wrong code. {n} tries left',
  'wrong.flash.one': 'Wrong digits. {n} try left',
  'wrong.flash.few': 'Wrong digits. {n} tries left',
  'wrong.flash.many': 'Wrong digits. {n} tries left',
  'tries.title': 'Too many tries',
  'tries.text': 'This code no longer works. Please request a new one.',
  'expired.title': 'The code has expired',
  'expired.text': 'Please request a new one.',
  new: 'Get a new code',
  'new.wait': 'New code in {time}',
  'done.title': 'Number confirmed',
  'done.text': 'You can continue.',
  'offline.title': 'No connection',
  'offline.text': 'Please check your internet connection and try again.',
  'offline.code': 'No connection. Your code still works',
  retry: 'Try again',
  'retry.wait': 'Try again in {time}',
  loading: 'Loading…',
  error: 'Error {code}',
  'error.110.title': 'Check not passed',
  'error.110.text':
    'We could not confirm that you are not a robot. Try again. If that fails, turn off your VPN or ad blocker.',
  'error.130.title': 'Too many requests',
  'error.130.text': 'Codes were requested too often for this number or from your network. Please wait a little.',
  'error.text': 'Please try later or contact the support of this site.',
  'error.210.title': 'Codes cannot be sent now',
  'error.230.title': 'This way is unavailable',
  'error.230.text': 'Please choose another way to get the code.',
  'error.310.title': 'Verification is not set up',
  'error.320.title': 'The code was not sent',
  'error.321.title': 'The site does not respond',
  'error.330.title': 'The code was not sent',
  'error.331.title': 'The code was not sent',
  'error.340.title': 'The robot check failed',
  'error.341.title': 'The robot check did not load',
  'error.350.title': 'The code was not sent',
  'error.4000.title': 'Check the number',
  'error.4000.text': 'We cannot send a code to this number. Please correct it.',
  foot: 'Verification by Tidings',
}

const ru: Record<keyof typeof en, string> = {
  label: 'Подтверждение номера телефона',
  phone: 'номер, который заканчивается на {last2}',
  'start.title': 'Подтвердите номер',
  'start.text': 'Пришлём код на этот номер. Это займёт меньше минуты.',
  'start.text.call': 'Позвоним на этот номер. Это займёт меньше минуты.',
  'start.to': 'Пришлём код на номер {number}',
  'start.to.call': 'Позвоним на номер {number}',
  'start.send': 'Получить код',
  'start.call': 'Позвоните мне',
  'start.by': 'Код придёт в {way}',
  'start.by.call': 'Подтвердим звонком',
  'captcha.running': 'Проверяем, что вы не робот…',
  'captcha.done': 'Проверка пройдена',
  sending: 'Отправляем…',
  calling: 'Звоним…',
  checking: 'Проверяем…',
  'code.title': 'Введите код',
  'code.input.few': 'Код, {n} цифры',
  'code.input.many': 'Код, {n} цифр',
  'code.confirm': 'Подтвердить',
  'code.SMS': 'Отправили его в СМС на номер {number}',
  'code.TELEGRAM': 'Отправили его в Telegram на номер {number}',
  'code.WHATSAPP': 'Отправили его в WhatsApp на номер {number}',
  'code.VIBER': 'Отправили его в Viber на номер {number}',
  'voice.title': 'Ответьте на звонок',
  'voice.text': 'Робот продиктует код. Звоним на {number}',
  'flash.title': 'Отвечать не нужно',
  'flash.text': 'Введите последние 4 цифры номера, с которого звоним на {number}',
  'flash.input': 'Последние 4 цифры номера, с которого звоним',
  'flash.example': 'Например: +7 495 123\u2011**45\u201167**',
  'again.wait': 'Новый код через {time}',
  again: 'Отправить ещё раз',
  'again.call.wait': 'Новый звонок через {time}',
  'again.call': 'Позвонить ещё раз',
  ways: 'Другой способ',
  'ways.title': 'Другой способ',
  'ways.back': 'Назад',
  'way.SMS': 'СМС',
  'way.FLASHCALL': 'Звонок',
  'way.FLASHCALL.hint': 'отвечать не нужно',
  'way.VOICECODE': 'Звонок робота',
  'way.VOICECODE.hint': 'продиктует код',
  'way.TELEGRAM': 'Telegram',
  'way.WHATSAPP': 'WhatsApp',
  'way.VIBER': 'Viber',
  'way.wait': 'через {time}',
  'code.short.few': 'Введите все {n} цифры',
  'code.short.many': 'Введите все {n} цифр',
  'wrong.one': 'Неверный код. Осталась {n} попытка',
  'wrong.few': 'Неверный код. Осталось {n} попытки',
  'wrong.many': 'Неверный код. Осталось {n} попыток',
  'wrong.flash.one': 'Неверные цифры. Осталась {n} попытка',
  'wrong.flash.few': 'Неверные цифры. Осталось {n} попытки',
  'wrong.flash.many': 'Неверные цифры. Осталось {n} попыток',
  'tries.title': 'Попытки закончились',
  'tries.text': 'Этот код больше не действует. Запросите новый.',
  'expired.title': 'Срок действия кода истёк',
  'expired.text': 'Запросите новый код.',
  new: 'Получить новый код',
  'new.wait': 'Новый код через {time}',
  'done.title': 'Номер подтверждён',
  'done.text': 'Можно продолжать.',
  'offline.title': 'Нет связи',
  'offline.text': 'Проверьте подключение к интернету и попробуйте снова.',
  'offline.code': 'Нет связи. Код ещё действует',
  retry: 'Попробовать снова',
  'retry.wait': 'Повторить через {time}',
  loading: 'Загружаем…',
  error: 'Ошибка {code}',
  'error.110.title': 'Проверка не пройдена',
  'error.110.text': 'Не удалось убедиться, что вы не робот. Попробуйте снова или отключите VPN и блокировщик рекламы.',
  'error.130.title': 'Слишком много запросов',
  'error.130.text': 'Для этого номера или из вашей сети слишком часто запрашивали код. Подождите немного.',
  'error.text': 'Попробуйте позже или обратитесь в поддержку сайта.',
  'error.210.title': 'Коды не отправляются',
  'error.230.title': 'Этот способ недоступен',
  'error.230.text': 'Выберите другой способ получить код.',
  'error.310.title': 'Проверка не настроена',
  'error.320.title': 'Код не отправлен',
  'error.321.title': 'Сайт не отвечает',
  'error.330.title': 'Код не отправлен',
  'error.331.title': 'Код не отправлен',
  'error.340.title': 'Сбой проверки на робота',
  'error.341.title': 'Проверка не загрузилась',
  'error.350.title': 'Код не отправлен',
  'error.4000.title': 'Проверьте номер',
  'error.4000.text': 'На этот номер нельзя отправить код. Исправьте его.',
  foot: 'Номер проверяет Tidings',
}

export type Word = keyof typeof en

type Values = Record<string, string | number>

/** The widget's texts in one language. */
export class Words {
  readonly lang: Lang
  readonly #plural: Intl.PluralRules

  constructor(lang: Lang) {
    this.lang = lang
    this.#plural = new Intl.PluralRules(lang)
  }

  of(word: Word, values: Values = {}): string {
    const text = (this.lang === 'ru' ? ru : en)[word].replace(/\{(\w+)\}/g, (whole, name) =>
      String(values[name] ?? whole),
    )
    return this.lang === 'ru' ? withoutLonelyShortWords(text) : text
  }

  /** The plural form for `n` things: `wrong` becomes `wrong.one`, `wrong.few` or `wrong.many`. */
  count(word: 'code.input' | 'code.short' | 'wrong' | 'wrong.flash', n: number): string {
    const form = this.#plural.select(n).replace('other', 'many')
    const plural = `${word}.${form}`
    return this.of(has(plural) ? plural : `${word}.many`, { n })
  }

  /** The text of an error. Undefined if the error has no text of its own. */
  ofError(code: number, part: 'title' | 'text'): string | undefined {
    const word = `error.${code}.${part}`
    return has(word) ? this.of(word) : undefined
  }
}

const has = (word: string): word is Word => word in en

/** Russian texts have no line break after a short word. */
const withoutLonelyShortWords = (text: string) => text.replace(/(^|\s)(в|к|на|с|не|и|из) /gi, '$1$2\u00a0')

/** `0:42`, `14:32`. */
export const clock = (seconds: number) => `${Math.floor(seconds / 60)}:${String(seconds % 60).padStart(2, '0')}`
