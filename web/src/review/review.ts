import { queryOptions } from '@tanstack/react-query'
import type {
  CountAnswer,
  QueueAnswer,
  QueueItem,
  SenderReview,
  TemplateReview,
} from '../../../src/http/cabinet/senders/review.ts'
import { ask, type Wire } from '../api.ts'

export type Item = Wire<QueueItem>
export type SenderData = Wire<SenderReview>
export type TemplateData = Wire<TemplateReview>

/** The open request in the address. */
export type Open = { kind: Item['kind']; id: number }
export type ReviewSearch = { sender?: number | undefined; template?: number | undefined }

/** `undefined` removes an invalid value from the address. */
export const reviewSearchOf = (search: Record<string, unknown>): ReviewSearch => ({
  sender: idOf(search.sender),
  template: idOf(search.template),
})

const idOf = (value: unknown) => (Number.isSafeInteger(value) && Number(value) > 0 ? Number(value) : undefined)

export const openIn = ({ sender, template }: ReviewSearch): Open | undefined =>
  sender !== undefined
    ? { kind: 'sender', id: sender }
    : template !== undefined
      ? { kind: 'template', id: template }
      : undefined

export const searchOf = ({ kind, id }: Open): ReviewSearch => ({
  sender: kind === 'sender' ? id : undefined,
  template: kind === 'template' ? id : undefined,
})

export const isSame = (a: Open, b: Open) => a.kind === b.kind && a.id === b.id

export const REVIEW = ['review'] as const

/** Decisions of other people appear within this time. */
const REFRESH_MS = 20_000

export const queueQuery = queryOptions({
  queryKey: [...REVIEW, 'queue'],
  queryFn: () => ask<QueueAnswer>('GET', '/review'),
  refetchInterval: REFRESH_MS,
})

export const senderReviewQuery = (senderId: number) =>
  queryOptions({
    queryKey: [...REVIEW, 'sender', senderId],
    queryFn: () => ask<SenderReview>('GET', `/review/senders/${senderId}`),
    refetchInterval: REFRESH_MS,
  })

export const templateReviewQuery = (templateId: number) =>
  queryOptions({
    queryKey: [...REVIEW, 'template', templateId],
    queryFn: () => ask<TemplateReview>('GET', `/review/templates/${templateId}`),
    refetchInterval: REFRESH_MS,
  })

/** The number of waiting requests, for the navigation. */
export const countQuery = queryOptions({
  queryKey: [...REVIEW, 'count'],
  queryFn: () => ask<CountAnswer>('GET', '/review/count'),
  staleTime: 30_000,
  refetchInterval: 60_000,
})
