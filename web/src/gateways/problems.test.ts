import { expect, test } from 'vitest'
import { wrongSetting } from '../../../src/channels/settings.ts'
import { statusName } from '../../../src/channels/smpp/protocol/status.ts'
import { ServerError } from '../api.ts'
import { gateways } from '../words/ru/gateways.ts'
import { ru } from '../words/ru.ts'
import { wordsOf } from '../words/words.ts'
import { fieldProblemOf, troubleOf } from './problems.ts'

const words = wordsOf('ru', { ...ru, ...gateways })
const refused = (msg: string) => new ServerError(new Response(null, { status: 400 }), { code: 4000, msg })

test.each([
  [wrongSetting('host', 'is missing or no text').message, 'host', 'Заполните это поле.'],
  [wrongSetting('port', 'must be 1 to 65535').message, 'port', 'От 1 до 65535.'],
  ['A gateway with the name "MTS" exists already', 'name', 'Шлюз с таким именем уже есть.'],
  ['to: must not be empty', 'to', 'Заполните это поле.'],
  ['to must be a phone number, not "x"', 'to', 'Номер телефона с кодом страны.'],
])('a refusal is translated and names its field: %s', (msg, field, text) => {
  expect(fieldProblemOf(words, refused(msg))).toEqual({ field, text })
})

test('a wrong password of an operator is named as the problem, together with the words of the operator', () => {
  const error = `bind refused: ${statusName(0x0e)}`
  expect(troubleOf(words, error)).toBe(`Оператор не принимает логин или пароль (${error}).`)
  const trial = refused(`Gateway MTS could not be reached: ${error}. The engines may hold every connection`)
  expect(fieldProblemOf(words, trial).text).toMatch(/^Оператор не принимает .* проверьте его снова\.$/)
})
