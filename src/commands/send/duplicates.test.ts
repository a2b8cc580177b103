import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test, vi } from 'vitest'
import { createDuplicateFinder } from './duplicates.ts'

test('every row whose number came before is found, and only those', () => {
  const finder = createDuplicateFinder()
  const digitsOf = (row: number) => String(79_160_000_000 + (row % 7000))
  for (let row = 0; row < 200_000; row++) finder.add(row, digitsOf(row))
  const duplicates = finder.find()
  expect(duplicates.count).toBe(200_000 - 7000)
  for (const row of [0, 1, 6999]) expect(duplicates.has(row)).toBe(false)
  for (const row of [7000, 7001, 199_999]) expect(duplicates.has(row)).toBe(true)
  expect(duplicates.has(200_000)).toBe(false)
})

test('rows without a number are passed over, and nothing is left on the disk', () => {
  const folder = mkdtempSync(join(tmpdir(), 'tidings-duplicates-'))
  vi.stubEnv('TMPDIR', folder)
  const finder = createDuplicateFinder()
  finder.add(3, '79160000001')
  finder.add(9, '123456789012345')
  finder.add(12, '79160000001')
  expect(readdirSync(folder)).toEqual([])
  const { count, has } = finder.find()
  expect([count, has(3), has(9), has(12)]).toEqual([1, false, false, true])
  finder.close()
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true })
})
