import type { DispatchForm, TrialAnswer } from '../../../../../src/http/cabinet/dispatches/new-dispatch.ts'
import type { Wire } from '../../../api.ts'
import type { FileForm } from '../files/file-form.ts'
import type { Fault, Reading } from './candidates.ts'
import type { Column } from './columns.ts'

/** Tasks that the page gives to its worker, and the reports of the worker. */

/** The result of a first look at a file: its format and its columns. */
export type Look = { form: FileForm; columns: Column[]; hasHeading: boolean }

export type BrandSum = Wire<TrialAnswer>['byBrand'][number]
export type BadLines = { fault: Fault | Refused; count: number; example: string; line: number }
/** Error codes of the server. `reason.7403` is the text of 7403. */
export type Refused = `${number}`
export type BadLine = { line: number; written: string; fault: Fault | Refused }
export type Preview = {
  digits: string
  brand: BrandSum['brand']
  text: string
  parts: number
  substitutions: Record<string, string>
}

/** The result of a check: counts, skipped lines and the price. */
export type Report = {
  rows: number
  willBeSent: number
  parts: number
  duplicates: number
  blacklisted: number
  bad: BadLines[]
  /** The bad lines, up to a maximum. */
  badLines: BadLine[]
  byBrand: BrandSum[]
  /** Recipients whose operator has not approved the name. */
  unregistered: Wire<TrialAnswer>['unregistered']
  /** The sum, with four decimal places. */
  price: string
  /** The price of the later steps of a cascade, if every message needs all of them. */
  laterPrice: string
  trafficType: Wire<TrialAnswer>['trafficType']
  preview: Preview[]
  /** One bit for each recipient. Refused recipients have a 1 and are not uploaded. */
  leftOut: Uint8Array<ArrayBuffer>
}

/** The address of the cabinet's API, and the company of the requests. */
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
      /** The final number of recipients of the dispatch. */
      total: number
      /** The number of recipients that the dispatch has already. */
      from: number
      /** The Idempotency-Key of every request begins with it. */
      key: string
    }

export type Results = { look: Look; check: Report; upload: number }

export type Problem =
  | { kind: 'file'; reason: string; message: string }
  | { kind: 'server'; status: number; message: string }

export type Told = ToldOf<Results[Task['kind']]>

export type ToldOf<Result> =
  | { told: 'progress'; done: number }
  /** The server did not answer; the worker tries again. */
  | { told: 'waiting' }
  | { told: 'done'; result: Result }
  | { told: 'failed'; problem: Problem }
