import { expect, test } from 'vitest'
import { newDispatch } from '../../words/ru/new-dispatch.ts'
import { ru } from '../../words/ru.ts'
import { wordsOf } from '../../words/words.ts'
import { csvOfBadLines } from './bad-lines.ts'

test('bad lines are written in Russian for a Russian spreadsheet, and no number becomes a formula', () => {
  const csv = csvOfBadLines(wordsOf('ru', { ...ru, ...newDispatch }), [
    { line: 2, written: '+7 916', fault: 'length' },
    { line: 7, written: 'a;b', fault: '{name}' },
  ])
  expect(csv).toBe('\ufeffСтрока;Номер;Что не так\r\n2;\'+7 916;Неверная длина\r\n7;"a;b";Пусто: {name}\r\n')
})
