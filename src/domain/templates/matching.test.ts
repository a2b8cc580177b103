import { describe, expect, test } from 'vitest'
import { Effort, forAllTemplates } from './effort.ts'
import { type ApprovedTemplate, asMessengerTemplate, fitTemplate, type MatchedText, matchTexts } from './matching.ts'
import { compilePattern } from './pattern.ts'

describe('the template of a text', () => {
  let lastId = 0
  const approved = (pattern: string, given: Partial<ApprovedTemplate> = {}): ApprovedTemplate => ({
    templateId: ++lastId,
    channelType: 'SMS',
    trafficType: 'SERVICE',
    pattern,
    validTo: null,
    senderName: null,
    content: null,
    compiled: compilePattern(pattern),
    ...given,
  })
  const matchOf = async (templates: ApprovedTemplate[], text: MatchedText, effort = new Effort(forAllTemplates)) =>
    (await matchTexts(templates, [text], effort)).get(text)
  const typeOf = async (templates: ApprovedTemplate[], text: string, senderName?: string) =>
    (await matchOf(templates, { channelType: 'SMS', senderName, text }))?.template.trafficType

  test('is the template that fits, with the values of the places if the messenger has its own template', async () => {
    const given = { channelType: 'WHATSAPP', content: { name: 'order_ready', language: 'ru' } } as const
    const order = approved('Заказ %d для %w{1,3} готов', given)
    const templates = [approved('Код %d', given), order]
    const text = 'Заказ 17 для Анны Петровой готов'
    expect(await matchOf(templates, { channelType: 'WHATSAPP', text })).toEqual({
      template: order,
      values: ['17', 'Анны Петровой'],
    })
    expect(await matchOf(templates, { channelType: 'WHATSAPP', text: 'Распродажа!' })).toBeUndefined()
    const plain = approved('Заказ %d для %w{1,3} готов')
    expect(await matchOf([plain], { channelType: 'SMS', text })).toEqual({ template: plain, values: [] })
  })

  test('is sent as the template of the messenger, filled with the values of the places', () => {
    const given = { channelType: 'WHATSAPP', content: { name: 'order_ready', language: 'en_US' } } as const
    const content = { contentType: 'text', text: 'Order 17 is ready', footer: { text: 'Shop' } } as const
    const said = (template: ApprovedTemplate) => asMessengerTemplate(content, fitTemplate(template, content.text)!)
    expect(said(approved('Order %d is %w', given))).toEqual({
      ...content,
      template: { templateId: 'order_ready:en_US', parameters: ['17', 'ready'] },
    })
    expect(said(approved('Order %d is %w'))).toBeUndefined()
  })

  test('belongs to the channel of the text', async () => {
    expect(await typeOf([approved('Код %d', { channelType: 'VIBER' })], 'Код 1')).toBeUndefined()
  })

  test('has the sender name of the text, or none', async () => {
    const bound = approved('Код %d', { senderName: 'ROMASHKA' })
    expect(await typeOf([bound], 'Код 1', 'ROMASHKA')).toBe('SERVICE')
    expect(await typeOf([bound], 'Код 1', 'romashka')).toBeUndefined()
    expect(await typeOf([bound], 'Код 1')).toBeUndefined()
    expect(await typeOf([approved('Код %d')], 'Код 1', 'ROMASHKA')).toBe('SERVICE')
  })

  test('is the first that fits among the templates with the sender name of the text or none', async () => {
    const templates = [
      approved('Код %w', { trafficType: 'AUTHORIZE', senderName: 'LANDYSH' }),
      approved('Код %w', { trafficType: 'TRANSACT' }),
      approved('Код %d'),
    ]
    expect(await typeOf(templates, 'Код 1', 'LANDYSH')).toBe('AUTHORIZE')
    expect(await typeOf(templates, 'Код 1', 'ROMASHKA')).toBe('TRANSACT')
  })

  test('is found for each of many texts, and equal texts are read once', async () => {
    const templates = [approved('Код %d'), approved('Заказ %d', { trafficType: 'TRANSACT', senderName: 'ROMASHKA' })]
    const texts = Array.from({ length: 3000 }, (_, i) => ({
      channelType: 'SMS' as const,
      senderName: i < 1500 ? 'ROMASHKA' : 'LANDYSH',
      text: ['Код 1', 'Заказ 1', 'Распродажа'][i % 3]!,
    }))
    const effort = new Effort(forAllTemplates)
    const matches = await matchTexts(templates, texts, effort)
    expect(texts.map(text => matches.get(text)?.template.trafficType)).toEqual(
      texts.map(({ senderName, text }) =>
        text === 'Код 1' ? 'SERVICE' : text === 'Заказ 1' && senderName === 'ROMASHKA' ? 'TRANSACT' : undefined,
      ),
    )
    expect(effort.steps).toBeLessThan(100)
  })

  test('is found among 500 long templates with the same beginning, in a few steps for each character', async () => {
    const beginning = 'Здравствуйте, %w! '.repeat(40)
    const alike = Array.from({ length: 500 }, (_, i) => approved(`${beginning}${i}`))
    const text = `${'Здравствуйте, Анна! '.repeat(40)}499`
    const effort = new Effort(forAllTemplates)
    expect((await matchOf(alike, { channelType: 'SMS', text }, effort))?.template).toBe(alike[499])
    expect(effort.steps).toBeLessThan(6 * text.length)
  })

  describe('with hostile templates', () => {
    /** Each has a different beginning, so that the automaton cannot follow two of them together. */
    const hostile = Array.from({ length: 500 }, (_, i) =>
      approved(`%w{1,${1 + (i % 100)}}${'%wa'.repeat(1 + Math.floor(i / 100))}${'%w{1,2}a'.repeat(40)}!`),
    )
    const texts = Array.from({ length: 1000 }, (_, i) => ({
      channelType: 'SMS' as const,
      text: `${'a'.repeat(4090)}${i}`,
    }))

    test('is not searched beyond a limit of steps: the request is refused, because a wrong type would be a wrong price', async () => {
      const effort = new Effort(forAllTemplates)
      await expect(matchTexts(hostile, texts, effort)).rejects.toMatchObject({
        kind: 'invalid',
        message: expect.stringMatching(/takes too long: send fewer or shorter texts/),
      })
      expect(effort.steps).toBeLessThan(6_000_000)
    })

    test('is searched in slices, and other requests run in between', async () => {
      let turns = 0
      let isOver = false
      const others = () => {
        turns += 1
        if (!isOver) setImmediate(others)
      }
      setImmediate(others)
      await matchTexts(hostile, texts, new Effort(forAllTemplates)).catch(() => {})
      isOver = true
      expect(turns).toBeGreaterThan(20)
    })
  })
})
