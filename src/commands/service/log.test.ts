import { describe, expect, test } from 'vitest'
import { eventually } from '../../testing/eventually.ts'
import { watchDisk } from './disk-watch.ts'
import { createLog, readableLine, terminalLine } from './log.ts'

function aLog() {
  const lines: string[] = []
  const log = createLog({ level: 'info', role: 'api' }, json => void lines.push(json))
  return { log, lines, messages: () => lines.map(json => JSON.parse(json).msg) }
}

describe('an error of PostgreSQL', () => {
  const shown = (err: unknown) => {
    const { log, lines } = aLog()
    log.error({ err }, 'failed')
    return JSON.parse(lines[0]!).err
  }
  const refused = (code: string) => Object.assign(new Error('refused'), { code, detail: 'the row', where: 'the line' })

  test('is logged without the refused row, also within another error', () => {
    expect(shown(refused('23514'))).not.toHaveProperty('detail')
    const several = new AggregateError([refused('22021'), Object.assign(new Error('a'), { inner: refused('23505') })])
    expect(JSON.stringify(shown(several))).not.toMatch(/the row|the line/)
    expect(JSON.stringify(shown(several))).toContain('23505')
  })

  test('keeps the reason of a deadlock', () => {
    expect(shown(refused('40P01'))).toMatchObject({ detail: 'the row', where: 'the line' })
  })

  test.each([null, undefined, 'a text', 3])('may be no error at all: %j', thrown => {
    expect(shown(thrown)).toEqual(thrown)
  })
})

describe('a line on a terminal', () => {
  const shown = (write: (log: ReturnType<typeof aLog>['log']) => void) => {
    const { log, lines } = aLog()
    write(log)
    return readableLine(false)(lines[0]!)
  }

  test('has the time, the level, the process, what happened and its fields', () => {
    expect(shown(log => log.info({ gatewayId: 3, reason: 'it said "no"', open: [1, 2] }, 'bind.closed'))).toMatch(
      /^\d\d:\d\d:\d\d\.\d{3} INFO api bind\.closed gatewayId=3 reason="it said \\"no\\"" open=\[1,2\]\n$/,
    )
  })

  test('tells the reason of a failure, and where it was only for an error', () => {
    const err = new Error('No engine is at work')
    expect(shown(log => log.warn({ err }, 'request.unready'))).toMatch(
      / WARN api request\.unready reason="No engine [^\n]+"\n$/,
    )
    expect(shown(log => log.error({ err }, 'request.failed'))).toMatch(
      / ERROR api request\.failed reason=.*\n +at .*log\.test\.ts/,
    )
  })

  test('writes control characters of foreign text out', () => {
    const line = shown(log => log.info({ name: '\x1b[2J\u202e', text: 'a\nb' }, 'webhook\x07'))
    expect(line).toContain('webhook\\u0007 name=')
    expect(line.slice(0, -1)).toMatch(/^[\x20-\x7e]+$/)
  })

  test('replaces the progress that stands in the last line', () => {
    const { log, lines } = aLog()
    log.info('service.listening')
    expect(terminalLine(false)(lines[0]!)).toBe(`\r\x1b[K${readableLine(false)(lines[0]!)}`)
  })

  test('has colours where the terminal has them', () => {
    const { log, lines } = aLog()
    log.error('engine.died')
    expect(readableLine(true)(lines[0]!)).toContain('\x1b[31mERROR\x1b[0m')
  })
})

describe('a full disk', () => {
  test.each(['ENOSPC', '53100'])('is named once beside the errors that it causes (%s)', code => {
    const { log, lines, messages } = aLog()
    const err = Object.assign(new Error('could not extend file'), { code })
    log.error({ err }, 'loop.failed')
    log.error({ err }, 'loop.failed')
    expect(messages()).toEqual(['disk.full', 'loop.failed', 'loop.failed'])
    expect(JSON.parse(lines[0]!)).toMatchObject({ level: 50, code, reason: expect.stringMatching(/^No space is left/) })
  })

  test('is told before it is full, and when there is room again', async () => {
    const { log, messages } = aLog()
    let free = 1e9
    const watch = watchDisk('/data', log, async () => free, 1)
    free = 1e6
    await eventually(() => expect(messages()).toEqual(['disk.nearly_full']))
    free = 1e9
    await eventually(() => expect(messages()).toEqual(['disk.nearly_full', 'disk.has_room']))
    watch.stop()
  })
})
