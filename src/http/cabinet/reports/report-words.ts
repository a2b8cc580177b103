import Type from 'typebox'
import type { ChannelType } from '../../../base/channel-types.ts'
import { invalid } from '../../../base/errors.ts'
import { sources as englishSources } from '../../../base/words/blacklist-en.ts'
import { sources as russianSources } from '../../../base/words/blacklist-ru.ts'
import { traffic as english } from '../../../base/words/traffic-en.ts'
import { traffic as russian } from '../../../base/words/traffic-ru.ts'
import type { Source } from '../../../domain/blacklist/entry.ts'
import type { MessageStatus } from '../../../domain/messages/message.ts'
import { brandOf } from '../../../domain/numbering/brand.ts'
import { type Language, languages } from '../../../domain/people/person.ts'
import { Defaulted, OneOf } from '../../schemas.ts'

/** The parameters of a report: the language and the time zone of the reader. */
export const ofReader = {
  language: Defaulted(OneOf(languages, { default: 'en' })),
  /** The time zone of the reader. */
  zone: Type.Optional(Type.String({ maxLength: 64 })),
}

export function refuseUnknownZone(zone: string) {
  try {
    new Intl.DateTimeFormat('en', { timeZone: zone })
  } catch {
    throw invalid('zone: must be the name of a time zone, such as Europe/Moscow')
  }
}

/** Headings and values of files about messages and numbers. They use the same words as the pages. */
const en = {
  sheet: 'Messages',
  company: 'Company',
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
  channel: 'Channel',
  operatorError: 'Operator’s words',
  dispatch: 'Dispatch',
  ownId: 'Your id',
  received: 'Received',
  writtenTo: 'Written to',
  trafficCenter: 'Traffic center',
  stopWord: 'Stop word',
  yes: 'yes',
  no: 'no',
  source: 'How it came here',
  added: 'Added',
  comment: 'Comment',
  endedByCount: (count: number, reached: string) =>
    `Only the newest ${count} messages are in this file, back to ${reached}. Choose a shorter period.`,
  endedByTime: (reached: string) => `The search took too long and stopped at ${reached}. Choose a shorter period.`,
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
  company: 'Компания',
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
  channel: 'Канал',
  operatorError: 'Слова оператора',
  dispatch: 'Рассылка',
  ownId: 'Ваш идентификатор',
  received: 'Получено',
  writtenTo: 'Кому',
  trafficCenter: 'Центр трафика',
  stopWord: 'Стоп-слово',
  yes: 'да',
  no: 'нет',
  source: 'Как попал сюда',
  added: 'Добавлен',
  comment: 'Комментарий',
  endedByCount: (count, reached) =>
    `В файле только последние ${count} сообщений, начиная с ${reached}. Выберите период короче.`,
  endedByTime: reached => `Поиск занял слишком много времени и остановился на ${reached}. Выберите период короче.`,
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
  const names: Record<string, string> = {
    en: { ...english, ...englishSources },
    ru: { ...russian, ...russianSources },
  }[language]
  const nameOf = (key: string) => names[key] ?? key
  return {
    ...words,
    statusOf: (status: MessageStatus, wasSent: boolean) =>
      words.statuses[status === 'FAILED' && !wasSent ? 'UNSENT' : status],
    channelOf: (channelType: ChannelType) => nameOf(`channel.${channelType}`),
    operatorOf: (brandId: number) => nameOf(`operator.${brandOf(brandId) ?? 'OTHER'}`),
    reasonOf: (errorCode: number) => names[`reason.${errorCode}`] ?? nameOf('reason.other'),
    sourceOf: (source: Source | null) => nameOf(`blacklist.source.${source ?? 'unknown'}`),
  }
}

export type ReportWords = ReturnType<typeof reportWordsOf>
