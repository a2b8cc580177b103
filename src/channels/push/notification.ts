import type { Outgoing } from '../channel.ts'

/** The visible content of a message, for Web Push and FCM. Absent members are left out. */
export type Notification = {
  title?: string
  text: string
  url?: string
  image?: string
  data?: Record<string, unknown>
}

/** The common lifetime of a message. */
const LIFETIME_SECONDS = 25 * 3600
/** No push service keeps a message for longer than four weeks. */
const MOST_LIFETIME_SECONDS = 28 * 86_400

export function notificationOf({ content, text }: Outgoing): Notification {
  if (content?.contentType !== 'push') return { text }
  const { title, url, image, data } = content
  return {
    ...(title ? { title } : {}),
    text: content.text,
    ...(url ? { url } : {}),
    ...(image ? { image } : {}),
    ...(data ? { data } : {}),
  }
}

/** How long the push service tries to deliver. */
export function lifetimeSecondsOf({ expiresAt }: Outgoing, now: Date): number {
  if (!expiresAt) return LIFETIME_SECONDS
  const seconds = Math.floor((expiresAt.getTime() - now.getTime()) / 1000)
  return Math.min(Math.max(seconds, 0), MOST_LIFETIME_SECONDS)
}
