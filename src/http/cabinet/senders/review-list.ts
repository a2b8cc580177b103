import Type from 'typebox'
import { openStatuses, type ReviewStatus } from '../../../domain/review/review.ts'
import { Id, OneOf, Page } from '../../schemas.ts'

/** The filters of a list of sender names or templates, and the statuses of each filter. */
export const statusesOf = {
  approved: ['APPROVED'],
  waiting: openStatuses,
  rejected: ['REJECTED'],
  over: ['DENIED', 'CLOSED'],
} as const satisfies Record<string, readonly ReviewStatus[]>
export type ReviewFilter = keyof typeof statusesOf

/** The query of a list. */
export const listQuery = <State extends string>(states: readonly State[], mostCharacters: number) =>
  Type.Object({
    companyId: Type.Optional(Id),
    state: Type.Optional(OneOf(states)),
    search: Type.Optional(Type.String({ maxLength: mostCharacters })),
    page: Page,
  })
