import { UsageError } from '../../base/errors.ts'

const LONGEST_LOGIN = 200
const LONGEST_PASSWORD = 1024 // what the API takes when logging in

/** The login and password of the options, such that one can log in with them. */
export function credentialsIn(options: Record<string, string | undefined>): { login: string; password: string } {
  const login = options.login!
  const password = options.password!
  if (login.length > LONGEST_LOGIN || login !== login.trim() || /\p{Cc}/u.test(login)) {
    throw new UsageError(`--login must be 1 to ${LONGEST_LOGIN} characters, without spaces around them.`)
  }
  if (password.length > LONGEST_PASSWORD) {
    throw new UsageError(`--password must be 1 to ${LONGEST_PASSWORD} characters.`)
  }
  return { login, password }
}
