/** The result of the work, or an error like that of a server that does not answer. The work itself goes on. */
export async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  const late = Promise.withResolvers<never>()
  const timer = setTimeout(() => late.reject(Object.assign(new Error('no answer'), { code: 'CONNECT_TIMEOUT' })), ms)
  return Promise.race([work, late.promise]).finally(() => clearTimeout(timer))
}
