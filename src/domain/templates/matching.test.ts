import { describe, expect, test } from 'vitest'
import { type ApprovedTemplate, fitTemplate, matchingTemplate, saidByTemplate } from './matching.ts'
import { compilePattern } from './pattern.ts'

describe('the template of a text', () => {
  let lastId = 0
  const approved = (pattern: string, given: Partial<ApprovedTemplate> = {}): ApprovedTemplate => ({
    templateId: ++lastId,
    channelType: 'SMS',
    templateType: 'SERVICE',
    pattern,
    dateTo: null,
    senderName: null,
    content: null,
    compiled: compilePattern(pattern),
    ...given,
  })
  const typeOf = (templates: ApprovedTemplate[], text: string, senderName?: string) =>
    matchingTemplate(templates, { channelType: 'SMS', senderName, text })?.template.templateType

  test('is the one it fits, with what stands at the places', () => {
    const order = approved('Заказ %d для %w{1,3} готов')
    const templates = [approved('Код %d'), order]
    const match = matchingTemplate(templates, { channelType: 'SMS', text: 'Заказ 17 для Анны Петровой готов' })
    expect(match).toEqual({ template: order, values: ['17', 'Анны Петровой'] })
    expect(matchingTemplate(templates, { channelType: 'SMS', text: 'Распродажа!' })).toBeUndefined()
  })

  test('of a messenger goes out as its own template, filled with what stands at the places', () => {
    const given = { channelType: 'WHATSAPP', content: { name: 'order_ready', language: 'en_US' } } as const
    const content = { contentType: 'text', text: 'Order 17 is ready', footer: { text: 'Shop' } } as const
    const said = (template: ApprovedTemplate) => saidByTemplate(content, fitTemplate(template, content.text)!)
    expect(said(approved('Order %d is %w', given))).toEqual({
      ...content,
      template: { templateId: 'order_ready:en_US', parameters: ['17', 'ready'] },
    })
    expect(said(approved('Order %d is %w'))).toBeUndefined()
  })

  test('is one of its channel', () => {
    expect(typeOf([approved('Код %d', { channelType: 'VIBER' })], 'Код 1')).toBeUndefined()
  })

  test('is one of its sender name, or of none', () => {
    const bound = approved('Код %d', { senderName: 'ROMASHKA' })
    expect(typeOf([bound], 'Код 1', 'ROMASHKA')).toBe('SERVICE')
    expect(typeOf([bound], 'Код 1', 'romashka')).toBeUndefined()
    expect(typeOf([bound], 'Код 1')).toBeUndefined()
    expect(typeOf([approved('Код %d')], 'Код 1', 'ROMASHKA')).toBe('SERVICE')
  })

  test('is the first of several', () => {
    const templates = [approved('Код %w', { templateType: 'AUTHORIZE' }), approved('Код %d')]
    expect(typeOf(templates, 'Код 1')).toBe('AUTHORIZE')
  })

  test('is none where hundreds of hostile templates would take too long, and that is known after a bounded effort', () => {
    const hostile = Array.from({ length: 500 }, () => approved(`${'%wa'.repeat(50)}!`))
    const effort = { steps: 0 }
    const text = 'a'.repeat(10_000)
    expect(matchingTemplate([...hostile, approved('%w')], { channelType: 'SMS', text }, effort)).toBeUndefined()
    expect(effort.steps).toBeLessThan(3_100_000)
  })

  test('is found among 500 long ones that begin alike', () => {
    const beginning = 'Здравствуйте, %w! '.repeat(40)
    const alike = Array.from({ length: 500 }, (_, i) => approved(`${beginning}${i}`))
    const text = `${'Здравствуйте, Анна! '.repeat(40)}499`
    expect(matchingTemplate(alike, { channelType: 'SMS', text })?.template).toBe(alike[499])
  })
})
