import { Ajv2020 } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

export type AnswerCheck = (method: string, path: string, status: number, type: string, body: unknown) => void
type Document = { paths: Record<string, Record<string, { responses: Record<string, Answer> }>> }
type Answer = { content: Record<string, { schema: object }> }

/** Holds answers to the document: a path or status that it does not name must be an error, and no field is extra. */
export function answerCheck({ paths }: Document): AnswerCheck {
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

  return (method, path, status, type, body) => {
    const bare = path.split('?')[0]!.replace(/\/$/, '')
    const known = paths[bare] ? bare : Object.keys(paths).find(one => patternOf(one).test(bare))
    const operation = known === undefined ? undefined : paths[known]![method.toLowerCase()]
    const what = `${method} ${path} answered ${status}`
    if (!operation) return expect(status, `${what}, and is in no document`).toBeGreaterThanOrEqual(400)
    const answer = operation.responses[status] ?? (status >= 400 ? operation.responses.default : undefined)
    expect(answer, `${what}, which the document does not know`).toBeDefined()
    expect(Object.keys(answer!.content), what).toEqual([type])
    const validate = ajv.compile(answer!.content[type]!.schema)
    expect(validate(body), `${what}: ${ajv.errorsText(validate.errors)}`).toBe(true)
  }
}
