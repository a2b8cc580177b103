import { execFileSync } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { fileURLToPath } from 'node:url'
import { parseAst } from 'rolldown/parseAst'
import { describe, expect, test } from 'vitest'

/**
 * Holds the worst patterns of unclear English out of comments, texts, test names and documents. CONTRIBUTING.md has the
 * rules of plain language; this list is only what a program can find.
 */
const patterns: Record<string, RegExp> = {
  'name the subject instead of "whoever", "whatever", "nobody", "no one"':
    /\b(?:whoever|whomever|whatever|nobody(?:'s)?|no one(?:'s)?)\b/i,
  'name the subject instead of "who" without a person before it':
    /(?<!\b(?:person|people|someone|anyone|everyone|partner|partners|company|companies|owner|member|members|staff|moderator|operator|user|users|reader|readers|engineer|developer|subscriber|subscribers|recipient|recipients|attacker|administrator|viewer|viewers|colleague|newcomer|those),?) \bwho\b(?!\?)/i,
  'name the thing instead of "what is", "what has", "what comes"':
    /\bwhat (?:is|was|are|were|has|had|nobody|no|comes|came|stands|waits|waited|goes|can|may|must|cannot)\b(?!.*\?)/i,
  'repeat the noun instead of "one that", "those that"':
    /\b(?:ones?|those) (?:that|which|who)\b|\bthose (?:of|in|with|for)\b/i,
  'use the term of the field instead of an image':
    /\b(?:desks?|errands?|parcels?|clothes|in (?:its |their |no |our )?hands?)\b/i,
}

/** Folders and files that are not rewritten yet. The list only gets shorter. */
const unfinished: string[] = []

type Sentence = { line: number; text: string }

const root = fileURLToPath(new URL('..', import.meta.url))
const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\0')
  .filter(file => /\.(?:ts|tsx|md|sql)$/.test(file) && file !== 'src/plain-language.test.ts' && existsSync(root + file))

test('comments, texts, test names and documents are written in plain language', () => {
  const finished = files.filter(file => !unfinished.some(path => file.startsWith(path)))
  expect(finished.flatMap(unclearIn)).toEqual([])
})

test('a folder that is rewritten leaves the list of unfinished folders', () => {
  const isClear = (path: string) => files.filter(file => file.startsWith(path)).flatMap(unclearIn).length === 0
  expect(unfinished.filter(isClear), 'take these out of the list').toEqual([])
})

describe('the list of patterns', () => {
  test.each([
    ['a.ts', '/** Whoever takes one meanwhile looks at the time itself. */', 1],
    ['a.ts', 'const a = 1 // what nobody has yet', 2],
    ['a.ts', "test('the lock is given back: by who succeeded', run)", 1],
    ['a.ts', "throw new UsageError('Which company: what is its id?')", 0],
    ['a.ts', 'sql`select what is from desks`', 0],
    ['a.md', 'Messages that have no lease\n\n```\nnobody\n```\n', 0],
    ['a.md', 'Refuses what has no result.', 1],
    ['a.sql', "comment on table a is 'One row for each one that waits';", 1],
    ['a.ts', '/** The person who signs in, and the partner who pays. */', 0],
  ])('%s: %s', (file, text, found) => {
    expect(unclear(file, text)).toHaveLength(found)
  })
})

const unclearIn = (file: string): string[] => unclear(file, readFileSync(root + file, 'utf8'))

const unclear = (file: string, text: string): string[] =>
  sentencesIn(file, text).flatMap(sentence =>
    Object.entries(patterns)
      .filter(([, pattern]) => pattern.test(sentence.text))
      .map(([advice]) => `${file}:${sentence.line} ${sentence.text.trim()} (${advice})`),
  )

function sentencesIn(file: string, text: string): Sentence[] {
  if (!Object.values(patterns).some(pattern => pattern.test(text))) return [] // parsing takes most of the time
  if (file.endsWith('.md')) return linesOf(text.replaceAll(/^```[\s\S]*?^```/gm, block => block.replaceAll(/.+/g, '')))
  if (file.endsWith('.sql')) return linesOf(text).filter(({ text }) => /--|'.* .*'|comment on/.test(text))
  return [...commentsIn(text), ...textsIn(file, text)]
}

const linesOf = (text: string): Sentence[] => text.split('\n').map((line, i) => ({ line: i + 1, text: line }))

const commentsIn = (text: string): Sentence[] =>
  linesOf(text).flatMap(({ line, text }) => {
    const [comment] = text.match(/^\s*(?:\/\*\*|\*|\/\/).*| \/\/ .*/) ?? []
    return comment ? { line, text: comment } : []
  })

type Node = { type: string; start: number; value?: unknown; [key: string]: unknown }

/** The string literals with at least three words: messages, help texts, names of tests. SQL is left out. */
function textsIn(file: string, text: string): Sentence[] {
  const program = parseAst(text, { lang: file.endsWith('x') ? 'tsx' : 'ts' }) as unknown as Node
  return nodesIn(program)
    .map(node => ({ start: node.start, text: wordsOf(node) }))
    .filter(({ text }) => text.split(' ').length > 2)
    .map(({ start, text: words }) => ({ line: text.slice(0, start).split('\n').length, text: words }))
}

function wordsOf({ type, value }: Node): string {
  if (type === 'TemplateElement') return (value as { raw: string }).raw
  return type === 'Literal' && typeof value === 'string' ? value : ''
}

function nodesIn(node: Node): Node[] {
  if (node.type === 'TaggedTemplateExpression') return []
  const children = Object.values(node).flatMap(value => (Array.isArray(value) ? value : [value]))
  return [node, ...children.filter(isNode).flatMap(nodesIn)]
}

const isNode = (value: unknown): value is Node => typeof (value as Node | null)?.type === 'string'
