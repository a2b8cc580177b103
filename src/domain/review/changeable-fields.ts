import { invalidField } from '../../base/errors.ts'
import { openStatuses, type ReviewStatus } from './review.ts'

/** In these statuses no reviewer has decided on the content of the request. */
export const beforeDecision: readonly ReviewStatus[] = ['DRAFT', 'PRE_REVIEW', 'INTERNAL_REVIEW', 'REJECTED']
export const beforeApproval: readonly ReviewStatus[] = [...openStatuses, 'REJECTED']
export const untilTheEnd: readonly ReviewStatus[] = [...beforeApproval, 'APPROVED']

/** The statuses in which each field of a sender name or template can be changed. */
export class ChangeableFields<Field extends string> {
  readonly #statusesOf: Map<Field, readonly ReviewStatus[]>
  readonly #noun: string

  constructor(noun: 'sender' | 'template', statusesOf: [Field, readonly ReviewStatus[]][]) {
    this.#noun = noun
    this.#statusesOf = new Map(statusesOf)
  }

  in(status: ReviewStatus): Field[] {
    return [...this.#statusesOf.keys()].filter(field => this.#isChangeable(field, status))
  }

  /** Throws when the change has a value for a field that is fixed in this status. */
  refuseOthers(status: ReviewStatus, change: Partial<Record<Field, unknown>>) {
    for (const field of this.#statusesOf.keys()) {
      if (change[field] === undefined || this.#isChangeable(field, status)) continue
      throw invalidField(field, `cannot be changed while the ${this.#noun} is ${status}`)
    }
  }

  #isChangeable(field: Field, status: ReviewStatus) {
    return this.#statusesOf.get(field)?.includes(status) ?? false
  }
}
