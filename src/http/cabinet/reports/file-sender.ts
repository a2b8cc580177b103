import type { FastifyReply, FastifyRequest } from 'fastify'
import { usualLimits } from '../../context.ts'
import { ReportLimit, sendFile, streamOf } from '../../report-limit.ts'
import type { CabinetContext } from '../cabinet-context.ts'
import { type ReportFormat, reportTypes } from './report.ts'

type File = { name: string; format: ReportFormat; pieces: AsyncIterable<string | Buffer> }

const fileTypes = { ...reportTypes, pdf: 'application/pdf' }

/** Sets the headers of a file that the browser stores. */
export const asFile = (reply: FastifyReply, name: string, format: keyof typeof fileTypes): FastifyReply =>
  reply.type(fileTypes[format]).header('content-disposition', `attachment; filename="${name}.${format}"`)

/** Sends files while they are read: a limited number at once, in all and to one person. */
export class FileSender {
  readonly #limit: ReportLimit
  readonly #stallMs: number

  constructor({ limits }: Pick<CabinetContext, 'limits'>, mostOfPerson: number) {
    const { reports, reportStallMs } = { ...usualLimits, ...limits }
    this.#limit = new ReportLimit(reports, mostOfPerson)
    this.#stallMs = reportStallMs
  }

  send({ viewer, method }: Pick<FastifyRequest, 'viewer' | 'method'>, reply: FastifyReply, file: File): FastifyReply {
    const { name, format, pieces } = file
    return sendFile(method, asFile(reply, name, format), () =>
      this.#limit.admit(viewer.personId, () => streamOf(pieces, this.#stallMs)),
    )
  }
}
