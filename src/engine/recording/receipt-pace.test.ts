import { expect, test } from 'vitest'
import { PROMPT_MS, ReceiptPace } from './receipt-pace.ts'

/** Lets messages be submitted and reported, one each millisecond, after the same time. */
function reported(pace: ReceiptPace, messages: number, afterMs: number, from = 0) {
  for (let i = 0; i < messages + afterMs; i++) {
    if (i < messages) pace.written(`${from + i}`, from + i, from + i)
    if (i >= afterMs) pace.alone(`${from + i - afterMs}`, from + i)
  }
}

test('at first it is not worth waiting for receipts', () => {
  expect(new ReceiptPace().isPrompt).toBe(false)
})

test('prompt receipts of written submissions are learnt from samples', () => {
  const pace = new ReceiptPace()
  reported(pace, 500, PROMPT_MS - 1)
  expect(pace.isPrompt).toBe(false)
  reported(pace, 1500, PROMPT_MS - 1, 10_000)
  expect(pace.isPrompt).toBe(true)
})

test('receipts after a longer time are not prompt, and make it forget prompt ones', () => {
  const pace = new ReceiptPace()
  for (let i = 0; i < 2000; i++) pace.joined()
  expect(pace.isPrompt).toBe(true)
  reported(pace, 3000, PROMPT_MS + 1)
  expect(pace.isPrompt).toBe(false)
})

test('submissions that waited in vain make it stop waiting', () => {
  const pace = new ReceiptPace()
  for (let i = 0; i < 2000; i++) pace.joined()
  for (let i = 0; i < 200; i++) pace.written(`${i}`, i, i + PROMPT_MS)
  expect(pace.isPrompt).toBe(false)
})

test('receipts of messages that other processes submitted teach nothing', () => {
  const pace = new ReceiptPace()
  for (let i = 0; i < 2000; i++) pace.alone(`${i}`, i)
  expect(pace.isPrompt).toBe(false)
})
