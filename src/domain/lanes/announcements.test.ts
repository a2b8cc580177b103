import { expect, test } from 'vitest'
import { announcementsOf, readAnnouncement } from './announcements.ts'

test('each queue with new messages is announced once, and understood', () => {
  const messages = [
    { priority: 0, channelType: 'SMS' as const },
    { priority: 0, channelType: 'SMS' as const },
    { priority: 3, channelType: 'TELEGRAM_GATEWAY' as const },
  ]
  expect(announcementsOf(42, messages).map(readAnnouncement)).toEqual([
    { priority: 0, companyId: 42, channelType: 'SMS' },
    { priority: 3, companyId: 42, channelType: 'TELEGRAM_GATEWAY' },
  ])
})

test.each(['', 'codes', 'others', '0 42', '0 42 PIGEON', '0 42 SMS more', '0 -1 SMS'])(
  'the announcement "%s" of another program names no queue',
  payload => expect(readAnnouncement(payload)).toBeUndefined(),
)
