import { allChannelTypes, type ChannelType } from '../../base/channel-types.ts'
import type { Queue } from './lane.ts'

/** A queue that has got new messages, as the API tells the engines. They only save time: engines also search for work. */
export type Announcement = Queue & { priority: number }

/** The announcements of messages of a company, each once. */
export function announcementsOf(
  companyId: number,
  messages: { priority: number; channelType: ChannelType }[],
): string[] {
  return [...new Set(messages.map(({ priority, channelType }) => `${priority} ${companyId} ${channelType}`))]
}

/** Undefined for an announcement of another form, for example by an older or a newer program. */
export function readAnnouncement(payload: string): Announcement | undefined {
  const [, priority, companyId, channel] = /^(\d) (\d{1,15}) (\w+)$/.exec(payload) ?? []
  const channelType = allChannelTypes.find(each => each === channel)
  return channelType && { priority: Number(priority), companyId: Number(companyId), channelType }
}
