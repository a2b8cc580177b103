import type { TSchema } from 'typebox'
import { compileValidator, validationMessage } from '../validation.ts'

/** Validates a value by a schema. Returns the mistake with its path, or undefined. `at`: the path of the value. */
export function checkerOf(schema: TSchema, at: string): (value: unknown) => string | undefined {
  const validate = compileValidator({ schema: schema as unknown as Record<string, unknown> })
  return value => {
    if (validate(value)) return undefined
    const message = validationMessage(validate.errors as never, at || 'body')
    return at === '' || message.startsWith(`${at}: `) ? message : joined(at, message)
  }
}

const joined = (at: string, message: string) => (message.startsWith('[') ? `${at}${message}` : `${at}.${message}`)
