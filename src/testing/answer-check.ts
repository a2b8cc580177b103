import { Ajv2020, type ValidateFunction } from 'ajv/dist/2020.js'
import { expect } from 'vitest'

export type AnswerCheck = (method: string, path: string, status: number, type: string, body: unknown) => void
type Document = {
  paths: Record<string, Record<string, { responses: Record<string, Answer> }>>
  components: { responses?: Record<string, Answer> }
}
type Answer = { $ref?: string; content?: Record<string, unknown> }

/**
 * Compares answers with the OpenAPI document. Fails for a success that the document does not describe, and for an extra
 * field.
 */
export function answerCheck(document: Document): AnswerCheck {
  const { paths } = document
  const ajv = new Ajv2020({ strict: false, validateFormats: false })
  ajv.addSchema(document, 'document')
  const validators = new Map<string, ValidateFunction>()
  const patternOf = (path: string) => new RegExp(`^${path.replaceAll(/\{\w+\}/g, '[^/]+')}$`)

  function validatorAt(...steps: string[]): ValidateFunction {
    const pointer = steps.map(step => step.replaceAll('~', '~0').replaceAll('/', '~1')).join('/')
    const validate = validators.get(pointer) ?? ajv.compile({ $ref: `document#/${pointer}` })
    validators.set(pointer, validate)
    return validate
  }

  return (method, path, status, type, body) => {
    const bare = path.split('?')[0]!.replace(/\/$/, '')
    const known = paths[bare] ? bare : Object.keys(paths).find(one => patternOf(one).test(bare))
    const operation = known === undefined ? undefined : paths[known]![method.toLowerCase()]
    const what = `${method} ${path} answered ${status}`
    if (!operation) return expect(status, `${what}, and is in no document`).toBeGreaterThanOrEqual(400)
    const answer = operation.responses[status]
    expect(answer, `${what}, which the document does not know`).toBeDefined()
    const shared = answer!.$ref?.split('/').at(-1)
    const place = shared
      ? ['components', 'responses', shared]
      : ['paths', known!, method.toLowerCase(), 'responses', String(status)]
    const { content = {} } = shared ? document.components.responses![shared]! : answer!
    expect(Object.keys(content), what).toEqual([type])
    const validate = validatorAt(...place, 'content', type, 'schema')
    expect(validate(body), `${what}: ${ajv.errorsText(validate.errors)}`).toBe(true)
  }
}
