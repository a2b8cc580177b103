import type { FastifyReply, FastifyRequest } from 'fastify'

const NAME = 'tidings'
const MOST_SECONDS = 14 * 24 * 3600

/**
 * Browsers accept a cookie named `__Host-…` only over https and only for this host. Without https it has a plain name.
 */
export class SessionCookie {
  readonly #name: string
  readonly #isSecure: boolean

  constructor(publicUrl: string) {
    this.#isSecure = publicUrl.startsWith('https:')
    this.#name = this.#isSecure ? `__Host-${NAME}` : NAME
  }

  read({ headers }: FastifyRequest): string | undefined {
    for (const part of (headers.cookie ?? '').split(';')) {
      const [name, value] = part.trim().split('=', 2)
      if (name === this.#name && value) return value
    }
  }

  write(reply: FastifyReply, session: string) {
    reply.header('set-cookie', this.#line(session, MOST_SECONDS))
  }

  clear(reply: FastifyReply) {
    reply.header('set-cookie', this.#line('', 0))
  }

  #line(value: string, maxAgeSeconds: number): string {
    const secure = this.#isSecure ? '; Secure' : ''
    return `${this.#name}=${value}; Path=/; Max-Age=${maxAgeSeconds}; HttpOnly; SameSite=Lax${secure}`
  }
}
