import { expect, test } from 'vitest'
import { readPortedLine } from '../../../../src/domain/numbering/imports.ts'
import { entriesOf } from '../../../../src/domain/numbering/lines.ts'
import { readRegisterLine } from '../../../../src/domain/numbering/register.ts'
import { checkTariffs, readTariffFile } from '../../../../src/domain/pricing/imports.ts'
import { readPriceFile } from '../../../../src/domain/pricing/other-price.ts'
import { fileMistakes } from '../../words/ru/file-mistakes.ts'
import { ru } from '../../words/ru.ts'
import { wordsOf } from '../../words/words.ts'
import { describeMistake, hasText } from './file-mistake.ts'

const words = wordsOf('ru', { ...ru, ...fileMistakes })
const HEADING = 'senderType,brand,trafficType,pricingModel,from,price,priceMauBatch'

const mistakeOf = (read: () => unknown): string => {
  try {
    read()
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was wrong')
}

async function mistakeIn<T>(content: string | Buffer, read: (line: string) => T): Promise<string> {
  async function* source() {
    yield typeof content === 'string' ? Buffer.from(content) : content
  }
  try {
    for await (const _ of entriesOf(source(), read));
  } catch (error) {
    return (error as Error).message
  }
  throw new Error('nothing was wrong')
}

test('every mistake in a file of tariffs or prices has a text with its line', () => {
  const lines = [
    'GOLD,,,FIXED,0,1,',
    'PRO,,,FIXED,0,cheap,',
    'PRO,MTS,,FIXED,few,1,',
    'PRO,TELE2,,SCALED,5,1,',
    'START,,,FIXED,0,1,5',
    'START,MTS,,FIXED,0,1,',
    'START,MTS,,FIXED,9,1,',
    'START,TELE2,,SCALED,0,1,',
    'START,TELE2,,SCALED,1,2,',
  ]
  const { wrong } = checkTariffs(readTariffFile([HEADING, ...lines].join('\n')))
  expect(wrong).toHaveLength(7)
  const prices = readPriceFile('channelType,country,price\nPIGEON,,1\nSMS,RU,1\nVIBER,KZ,1\nVIBER,,1\nVIBER,,2').wrong
  expect(prices).toHaveLength(4)
  for (const told of [...wrong, ...prices]) expect([told, hasText(told)]).toEqual([told, true])
  for (const told of [...wrong, ...prices]) expect(describeMistake(words, told)).toMatch(/^Строка \d+: [^{}]+\.$/)
  expect(describeMistake(words, wrong[1]!)).toBe(
    'Строка 3: «cheap» в колонке price — не сумма. Укажите число до 1000000, не более четырёх знаков после точки, например 5.90.',
  )
  for (const text of ['nonsense', '[1]', 'channelType;price']) {
    const told = mistakeOf(() => (text.startsWith('channel') ? readPriceFile(text) : readTariffFile(text)))
    expect([told, hasText(told)]).toEqual([told, true])
  }
})

test('every mistake in a file of the numbering plan has a text with its line', async () => {
  const register = (code: string, from: string, to: string, name = 'МТС', region = 'Москва', inn = '7740000076') =>
    `${code};${from};${to};1;${name};${region};${region};${inn}`
  const good = register('916', '0000000', '0999999')
  const bad = [
    '1;2;3',
    register('116', '0000000', '0999999'),
    register('916', '12', '0999999'),
    register('916', '0999999', '0000000'),
    register('916', '0000000', '0999999', ''),
    register('916', '0000000', '0999999', 'МТС', ''),
    register('916', '0000000', '0999999', 'МТС', 'Москва', '12'),
  ]
  const told = [
    ...(await Promise.all(bad.map(line => mistakeIn(`${good}\n${line}`, readRegisterLine)))),
    ...(await Promise.all(['79160000001', '123;MTS', '79160000001;GOLD'].map(line => mistakeIn(line, readPortedLine)))),
    'line 7: the range overlaps the one of line 2',
  ]
  for (const one of told) expect(describeMistake(words, one)).toMatch(/^Строка \d+: [^{}]+\.$/)
  const whole = [
    await mistakeIn(Buffer.from([0xff, 0xfe, 0x41]), readPortedLine),
    'The file has no entries.',
    'sizeBytes: must be at least 1',
    'The numbering plan was changed in the meantime: compare the file again',
    'Four files wait already: apply or remove one of them, or try again in an hour',
  ]
  for (const one of [...told, ...whole]) expect([one, hasText(one)]).toEqual([one, true])
})
