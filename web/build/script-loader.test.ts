import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest'
import { provideLoader } from './script-loader.ts'

type FakeScript = { src: string; onload(): void; onerror(): void; remove(): void }

/** The scripts that the loader has requested. */
let requested: FakeScript[] = []
const namesOf = () => requested.map(({ src }) => src.slice('https://example.com/cabinet/assets/'.length))

beforeEach(() => {
  requested = []
  vi.stubGlobal('document', {
    currentScript: { src: 'https://example.com/cabinet/assets/index.js' },
    createElement: () => ({ remove() {} }),
    head: { append: (script: FakeScript) => requested.push(script) },
  })
})
afterEach(() => void vi.unstubAllGlobals())

/** Starts a page whose first script calls `load`. */
function loadFromFirst(file: string, needs: string[]) {
  const run = provideLoader()
  let load: (file: string, needs: string[]) => Promise<object> = async () => ({})
  tidingsScript('index.js', (_, exports, loader) => {
    load = loader
    Object.assign(exports, { isFirst: true })
  })
  run('index.js')
  return { again: () => load(file, needs), loaded: load(file, needs) }
}

const arrive = (index: number, define = () => {}) => {
  define()
  requested[index]!.onload()
}

describe('the loader of scripts', () => {
  test('requests a file and all that it needs at once, and runs them when all are there, each once', async () => {
    const { loaded, again } = loadFromFirst('page.js', ['common.js'])
    expect(namesOf()).toEqual(['page.js', 'common.js'])
    const runs: string[] = []
    arrive(0, () =>
      tidingsScript('page.js', (require, exports) => {
        runs.push('page')
        Object.assign(exports, { common: require('common.js'), first: require('index.js') })
      }),
    )
    await Promise.resolve()
    expect(runs).toEqual([])
    arrive(1, () =>
      tidingsScript('common.js', (_, exports) => {
        runs.push('common')
        Object.assign(exports, { isCommon: true })
      }),
    )
    expect(await loaded).toEqual({ common: { isCommon: true }, first: { isFirst: true } })
    expect(await again()).toBe(await loaded)
    expect(runs).toEqual(['page', 'common'])
    expect(namesOf()).toHaveLength(2)
  })

  test('requests a file again after a failure, and after an answer that is not the file', async () => {
    const { loaded, again } = loadFromFirst('page.js', [])
    requested[0]!.onerror()
    await expect(loaded).rejects.toThrow(/^Failed to fetch dynamically imported module: .*page\.js$/)
    const second = again()
    arrive(1) // a page of a proxy
    await expect(second).rejects.toThrow(/^Failed to fetch/)
    const third = again()
    arrive(2, () => tidingsScript('page.js', (_, exports) => void Object.assign(exports, { isPage: true })))
    expect(await third).toEqual({ isPage: true })
  })

  test('tells the error of a file that fails, each time', async () => {
    const { loaded, again } = loadFromFirst('page.js', [])
    arrive(0, () =>
      tidingsScript('page.js', () => {
        throw new Error('the page is broken')
      }),
    )
    await expect(loaded).rejects.toThrow('the page is broken')
    await expect(again()).rejects.toThrow('the page is broken')
  })
})
