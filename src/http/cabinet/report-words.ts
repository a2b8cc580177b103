import { traffic as english } from '../../base/words/traffic-en.ts'
import { traffic as russian } from '../../base/words/traffic-ru.ts'
import type { MessageStatus } from '../../domain/messages/message.ts'
import { brandOf } from '../../domain/numbering/brand.ts'
import type { Language } from '../../domain/people/person.ts'

/** Heads and values of the report of a dispatch. Operators and reasons are named as on the pages. */
const en = {
  sheet: 'Messages',
  number: 'Number',
  operator: 'Operator',
  status: 'Status',
  reason: 'Reason',
  errorCode: 'Error code',
  parts: 'Parts',
  price: 'Price',
  senderName: 'Sender name',
  accepted: 'Accepted',
  sent: 'Sent',
  finished: 'Finished',
  text: 'Text',
  messageId: 'Message id',
  statuses: {
    CREATED: 'Waiting',
    SENT: 'On the way',
    DELIVERED: 'Delivered',
    FAILED: 'Undelivered',
    UNSENT: 'Unsent',
  },
}

const ru: typeof en = {
  sheet: 'Сообщения',
  number: 'Номер',
  operator: 'Оператор',
  status: 'Статус',
  reason: 'Причина',
  errorCode: 'Код ошибки',
  parts: 'Частей',
  price: 'Цена',
  senderName: 'Имя отправителя',
  accepted: 'Принято',
  sent: 'Отправлено',
  finished: 'Завершено',
  text: 'Текст',
  messageId: 'Идентификатор сообщения',
  statuses: {
    CREATED: 'Ожидает',
    SENT: 'В пути',
    DELIVERED: 'Доставлено',
    FAILED: 'Не доставлено',
    UNSENT: 'Не отправлено',
  },
}

export function reportWordsOf(language: Language) {
  const words = { en, ru }[language]
  const names: Record<string, string> = { en: english, ru: russian }[language]
  return {
    ...words,
    statusOf: (status: MessageStatus, wasSent: boolean) =>
      words.statuses[status === 'FAILED' && !wasSent ? 'UNSENT' : status],
    operatorOf: (brandId: number) => names[`operator.${brandOf(brandId) ?? 'OTHER'}`]!,
    reasonOf: (errorCode: number) => names[`reason.${errorCode}`] ?? names['reason.other']!,
  }
}

export type ReportWords = ReturnType<typeof reportWordsOf>
