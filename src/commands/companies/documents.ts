import { writeFile } from 'node:fs/promises'
import { UsageError } from '../../base/errors.ts'
import { requireAnyCompany } from '../../domain/companies/companies.ts'
import type { CompanyDocument } from '../../domain/documents/document.ts'
import { listDocuments, readDocument } from '../../domain/documents/documents.ts'
import { noCompany, orAdvise } from '../advice.ts'
import { type Call, withDatabase } from '../command.ts'
import { argumentOf, idOption } from '../command-line.ts'
import { refusalToWrite } from '../file.ts'
import { table } from '../table.ts'

export async function listSome(call: Call) {
  const companyId = idOption(call, 'company')
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const documents = await listDocuments(sql, companyId)
    call.print(documents.map(present), tableOf(documents))
  })
}

const UUID = /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/i

export async function saveOne(call: Call) {
  const companyId = idOption(call, 'company')
  const id = argumentOf(call)
  if (!UUID.test(id)) throw new UsageError(`ID must be the id of a document, not "${id}".`)
  await withDatabase(call.config, async ({ sql }) => {
    await orAdvise(noCompany(companyId), requireAnyCompany(sql, companyId))
    const document = await readDocument(sql, companyId, id)
    if (!document) {
      throw new UsageError(
        `Company ${companyId} has no document ${id}: \`tidings document list --company ${companyId}\` shows them.`,
      )
    }
    const path = call.options.to ?? safeName(document.filename, document.kind)
    // Never over a file that is there: the name was chosen by the company.
    await writeFile(path, document.content, { flag: 'wx' }).catch(error => {
      throw new UsageError(refusalToWrite(path, error))
    })
    const { length } = document.content
    call.print({ id, file: path, sizeBytes: length }, `Document ${id} was saved as ${path} (${length} bytes).`)
  })
}

/** The name that the company gave the file, as it is safe in the current folder. */
function safeName(filename: string, kind: string): string {
  const plain = filename.replaceAll(/[^\p{L}\p{N}._ -]/gu, '_').replace(/^[. -]+/, '')
  return plain || `document.${kind}`
}

const present = ({ id, companyId, filename, createdAt }: CompanyDocument) => ({
  id,
  companyId,
  filename,
  createdAt: createdAt.toISOString(),
})

const tableOf = (documents: CompanyDocument[]) =>
  table(
    ['ID', 'CREATED', 'NAME'],
    documents.map(({ id, filename, createdAt }) => [id, createdAt.toISOString().slice(0, 10), filename]),
  )
