import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { isCode, linksIn, randomCode, shortenLinks } from './short-link.ts'

const base = 'https://s.example/s'

/** Codes that tell their order: the first link gets AAAAAAA1. */
function counter() {
  let count = 0
  return () => `AAAAAAA${++count}`
}

const urlsIn = (text: string) => linksIn(text).map(({ url }) => url)

describe('a link ends where its reader would say', () => {
  test.each([
    ['http://example.com', 'http://example.com'],
    ['Смотрите http://example.com/a?b=c#d сегодня', 'http://example.com/a?b=c#d'],
    ['Заказ готов: https://example.com/1.', 'https://example.com/1'],
    ['Уже были на https://example.com/?!', 'https://example.com/'],
    ['https://example.com/a, https://example.com/b; и всё', 'https://example.com/a', 'https://example.com/b'],
    ['https://example.com/a,https://example.com/b', 'https://example.com/a', 'https://example.com/b'],
    ['(https://example.com/a)', 'https://example.com/a'],
    ['(см. https://example.com/a_(b))', 'https://example.com/a_(b)'],
    ['https://example.com/a_(b)', 'https://example.com/a_(b)'],
    ['(https://example.com/a),(https://example.com/b).', 'https://example.com/a', 'https://example.com/b'],
    ['[https://example.com/a](https://example.com/b)', 'https://example.com/a', 'https://example.com/b'],
    ['https://example.com/a[1]=2', 'https://example.com/a[1]=2'],
    ['«https://example.com/a»', 'https://example.com/a'],
    ['"https://example.com/a"', 'https://example.com/a'],
    ['<https://example.com/a>', 'https://example.com/a'],
    ['Смотрите:https://example.com/a', 'https://example.com/a'],
    ['Сайтhttps://example.com/a', 'https://example.com/a'],
    ['HTTPS://Example.com/A', 'HTTPS://Example.com/A'],
    ['http://пример.рф/путь/к?цели=да.', 'http://пример.рф/путь/к?цели=да'],
    ['请看http://例子.cn/页，谢谢', 'http://例子.cn/页'],
    ['http://user:word@example.com:8080/x', 'http://user:word@example.com:8080/x'],
    ['http://[2001:db8::1]:8080/x', 'http://[2001:db8::1]:8080/x'],
    ['http://example.com/?to=https://example.org/a', 'http://example.com/?to=https://example.org/a'],
    ['https://example.com/🎉!', 'https://example.com/🎉'],
    ['https://example.com/a\nhttps://example.com/b', 'https://example.com/a', 'https://example.com/b'],
    ['http://[http://example.com/a', 'http://example.com/a'],
  ])('%s', (text, ...urls) => {
    expect(urlsIn(text)).toEqual(urls)
  })

  test.each([
    '',
    'http://',
    'https:// example.com',
    'http://.',
    'http://)',
    'example.com',
    'ftp://example.com',
    'xhttp://example.com',
    'svn+http://example.com',
    'http:/example.com',
  ])('there is none in %j', text => expect(urlsIn(text)).toEqual([]))
})

describe('shortening', () => {
  test('replaces every link, and the same link by the same code', () => {
    const text = 'Да: https://example.com/yes, нет: https://example.com/no (ещё раз: https://example.com/yes).'
    expect(shortenLinks(text, counter(), base)).toEqual({
      text: `Да: ${base}/AAAAAAA1, нет: ${base}/AAAAAAA2 (ещё раз: ${base}/AAAAAAA1).`,
      links: [
        { code: 'AAAAAAA1', url: 'https://example.com/yes' },
        { code: 'AAAAAAA2', url: 'https://example.com/no' },
      ],
    })
  })

  test('leaves a text without links, and links that are short already, as they are', () => {
    const makeCode = () => expect.fail('no code is needed')
    for (const text of ['', 'Привет!', `Сюда: ${base}/abcdefg1.`]) {
      expect(shortenLinks(text, makeCode, base)).toEqual({ text, links: [] })
    }
  })

  /** Anything at all, with much that looks like links. */
  const anyText = fc
    .array(
      fc.oneof(
        fc.constantFrom(
          'http://',
          'https://',
          'HTTP://',
          'example.com',
          '/a',
          '.',
          ',',
          '(',
          ')',
          '[',
          ']',
          ' ',
          '\n',
          '"',
          `${base}/x`,
        ),
        fc.string({ unit: 'grapheme', maxLength: 4 }),
      ),
      { maxLength: 25 },
    )
    .map(pieces => pieces.join(''))

  test('the original links restore the text; a short link does not become shorter', () => {
    let found = 0
    fc.assert(
      fc.property(anyText, text => {
        const { text: short, links } = shortenLinks(text, counter(), base)
        const urlOf = new Map(links.map(({ code, url }) => [code, url]))
        expect(short.replaceAll(/https:\/\/s\.example\/s\/(AAAAAAA\d+)/g, (_, code) => urlOf.get(code)!)).toBe(text)
        expect(new Set(links.map(({ url }) => url)).size).toBe(links.length)
        expect(links.every(({ url }) => URL.canParse(url) && text.includes(url))).toBe(true)
        expect(shortenLinks(short, counter(), base)).toEqual({ text: short, links: [] })
        found += links.length
      }),
      { numRuns: 2000 },
    )
    expect(found).toBeGreaterThan(100)
  })

  test('what looks like a link until its path, and is none, stays as it is', () => {
    expect(shortenLinks('http://0[/a', counter(), base)).toEqual({ text: 'http://0[/a', links: [] })
  })

  const link = fc
    .tuple(
      fc.constantFrom('http://', 'https://', 'Https://'),
      fc.constantFrom('example.com', 'shop.example.org:8080', 'пример.рф', '例子.cn', '192.0.2.1'),
      fc.stringMatching(/^(\/[a-zA-Zа-я0-9_~%()-]{0,5}){0,3}$/),
      fc.constantFrom('', '?a=1', '?q=%20&b=c', '#top', '?a[0]=1'),
    )
    .filter(([, , path]) => isBalanced(path))
    .map(parts => parts.join(''))
    .filter(url => !url.endsWith('('))
  const isBalanced = (text: string) => {
    let open = 0
    for (const char of text) {
      if (char === '(') open++
      if (char === ')' && --open < 0) return false
    }
    return open === 0
  }
  const around = fc.constantFrom(
    ['', ''],
    ['(', ')'],
    ['«', '»'],
    ['[', '].'],
    ['', '.'],
    ['', '!'],
    ['', ', '],
    ['Сюда: ', '...'],
    ['{', '}'],
  )

  test('no link is lost, in any surrounding text', () => {
    fc.assert(
      fc.property(fc.array(fc.tuple(link, around), { maxLength: 6 }), items => {
        const text = items.map(([url, [before, after]]) => before + url + after).join(' ')
        expect(urlsIn(text)).toEqual(items.map(([url]) => url))
      }),
      { numRuns: 1000 },
    )
  })
})

test('codes are ten characters of which none is rare', () => {
  const codes = Array.from({ length: 2000 }, randomCode)
  expect(codes.every(code => isCode(code) && code.length === 10)).toBe(true)
  expect(new Set(codes).size).toBe(2000)
  const counts = new Map<string, number>()
  for (const char of codes.join('')) counts.set(char, (counts.get(char) ?? 0) + 1)
  expect(counts.size).toBe(62)
  // 322 of each are expected; the chance that any strays so far is below one in a trillion.
  expect(Math.min(...counts.values())).toBeGreaterThan(322 - 160)
  expect(Math.max(...counts.values())).toBeLessThan(322 + 160)
})
