import { beforeAll, expect, test } from 'vitest'
import { usePartnerApi } from '../testing/api.ts'

/** The served document, held to the specification in what a caller must send. */

const api = usePartnerApi()

type Parameter = { name: string; in: string; required?: boolean; schema: { default?: unknown } }
type Operation = {
  parameters?: Parameter[]
  requestBody?: { required: boolean; content: Record<string, { schema: Schema }> }
  responses: Record<string, { description: string }>
}
type Schema = { type: string; required?: string[]; properties?: Record<string, Schema>; contentMediaType?: string }

let operations: Record<string, Operation>

beforeAll(async () => {
  const { paths } = (await api.app.inject('/docs/partner.json')).json()
  operations = Object.fromEntries(
    Object.entries(paths as Record<string, Record<string, Operation>>).flatMap(([path, methods]) =>
      Object.entries(methods).map(([method, operation]) => [`${method.toUpperCase()} ${path}`, operation]),
    ),
  )
})

const byName = <T>(of: (operation: Operation) => T) =>
  Object.fromEntries(Object.entries(operations).map(([name, operation]) => [name, of(operation)]))

test('the required fields are the required fields of the specification', () => {
  const required = byName(({ parameters = [], requestBody }) => ({
    parameters: parameters.filter(parameter => parameter.required).map(({ name }) => name),
    body: requestBody?.required,
  }))
  expect(required).toEqual({
    'POST /auth/token': { parameters: [], body: true },
    'POST /company': { parameters: [], body: true },
    'GET /company': { parameters: [] },
    'GET /company/{id}': { parameters: ['id'] },
    'PUT /company/{id}': { parameters: ['id'], body: true },
    'POST /company/{id}/documents': { parameters: ['id'], body: true },
    'GET /company/{id}/documents': { parameters: ['id'] },
    'POST /senders': { parameters: [], body: true },
    'GET /senders': { parameters: ['companyId'] },
    'GET /senders/{id}': { parameters: ['id'] },
    'PUT /senders/{id}': { parameters: ['id'], body: true },
    'POST /senders/{id}/suspend': { parameters: ['id'], body: false },
    'POST /senders/{id}/unsuspend': { parameters: ['id'], body: false },
    'POST /dispatches': { parameters: [], body: true },
    'POST /dispatches/{id}/messages': { parameters: ['id'], body: true },
    'POST /dispatches/{id}/start': { parameters: ['id'], body: false },
    'POST /dispatches/{id}/stop': { parameters: ['id'], body: false },
    'GET /dispatches': { parameters: ['companyId'] },
    'GET /dispatches/{id}': { parameters: ['id'] },
    'GET /dispatches/{id}/report': { parameters: ['id'] },
    'GET /messages': { parameters: ['dispatchId'] },
    'PUT /recipients': { parameters: [], body: true },
    'GET /price/tariffs': { parameters: [] },
    'GET /price/senders': { parameters: [] },
  })
})

test('an optional field shows its default', () => {
  const defaults = Object.entries(operations).flatMap(([name, { parameters = [] }]) =>
    parameters
      .filter(({ name, schema }) => name !== 'strict' && schema.default !== undefined)
      .map(parameter => `${name} ${parameter.name} ${parameter.schema.default}`),
  )
  expect(defaults.sort()).toEqual([
    'GET /company page 1',
    'GET /company per_page 10',
    'GET /dispatches page 1',
    'GET /dispatches perPage 10',
    'GET /messages page 1',
    'GET /messages perPage 100',
    'POST /dispatches dryRun false',
  ])
})

test('every answer is described in words of its own', () => {
  const descriptions = Object.values(operations).flatMap(({ responses }) =>
    Object.values(responses).flatMap(answer => ('$ref' in answer ? [] : answer.description)),
  )
  expect(descriptions).not.toContain('Default Response')
  expect(descriptions.every(description => description.length > 5)).toBe(true)
})

test('a document is uploaded as a form with one file', () => {
  const { schema } = operations['POST /company/{id}/documents']!.requestBody!.content['multipart/form-data']!
  expect(schema).toMatchObject({
    type: 'object',
    required: ['file'],
    properties: { file: { type: 'string', contentMediaType: 'application/octet-stream' } },
  })
})
