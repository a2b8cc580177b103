import type { DispatchForm, TrialAnswer } from '../../../../../src/http/cabinet/dispatches/new-dispatch.ts'
import type { Wire } from '../../../api.ts'
import type { FileForm } from '../files/file-form.ts'
import type { Fault, Reading } from './candidates.ts'
import type { Column } from './columns.ts'

/** What the page asks its worker to do, and what it is told. */

/** A first look at a file: how it is written, and its columns. */
export type Look = { form: FileForm; columns: Column[]; hasHeading: boolean }

export type BrandSum = Wire<TrialAnswer>['byBrand'][number]
export type BadLines = { fault: Fault | Refused; count: number; example: string; line: number }
/** What the server refuses: error codes as `reason.7403` names them. */
export type Refused = `${number}`
export type BadLine = { line: number; written: string; fault: Fault | Refused }
export type Preview = {
  digits: string
  brand: BrandSum['brand']
  text: string
  parts: number
  substitutions: Record<string, string>
}

/** What was read, and what it would come to. */
export type Report = {
  rows: number
  willBeSent: number
  parts: number
  duplicates: number
  blacklisted: number
  bad: BadLines[]
  /** The bad lines themselves; so many at most. */
  badLines: BadLine[]
  byBrand: BrandSum[]
  /** Recipients whose operator has not approved the name. */
  unregistered: Wire<TrialAnswer>['unregistered']
  /** The sum, with four decimal places. */
  price: string
  /** What later steps of a cascade add, if every message needs all of them. */
  laterPrice: string
  trafficType: Wire<TrialAnswer>['trafficType']
  preview: Preview[]
  /** Recipients that the server refused, a bit each: they are not uploaded. */
  leftOut: Uint8Array<ArrayBuffer>
}

/** Where the server's part of the cabinet is, and which company it is asked for. */
export type Place = { api: string; companyId: number | undefined }

export type Task =
  | { kind: 'look'; file: Blob; sheet: number | undefined }
  | { kind: 'check'; reading: Reading; dispatch: DispatchForm; place: Place }
  | {
      kind: 'upload'
      reading: Reading
      leftOut: Uint8Array<ArrayBuffer>
      place: Place
      dispatchId: number
      /** How many recipients the dispatch will have. */
      total: number
      /** How many it has already. */
      from: number
      /** Begins the Idempotency-Key of every request. */
      key: string
    }

export type Results = { look: Look; check: Report; upload: number }

export type Problem =
  | { kind: 'file'; reason: string; message: string }
  | { kind: 'server'; status: number; message: string }

export type Told = ToldOf<Results[Task['kind']]>

export type ToldOf<Result> =
  | { told: 'progress'; done: number }
  /** No answer; the worker tries again. */
  | { told: 'waiting' }
  | { told: 'done'; result: Result }
  | { told: 'failed'; problem: Problem }
