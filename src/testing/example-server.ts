import { type ChildProcess, spawn, spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { afterEach, expect } from 'vitest'
import { eventually } from './eventually.ts'

export const examplesFolder = fileURLToPath(new URL('../../docs/examples/', import.meta.url))

export const hasPython = spawnSync('python3', ['--version']).status === 0

/** Servers of docs/examples on free ports, stopped after each test. */
export function useExampleServers() {
  const running: ChildProcess[] = []

  afterEach(() => {
    for (const child of running.splice(0)) child.kill()
  })

  return {
    /** Returns the port. */
    async start(program: string, file: string, settings: Record<string, string>): Promise<string> {
      const env = { PATH: process.env.PATH!, PORT: '0', ...settings }
      const child = spawn(program, [examplesFolder + file], { env, stdio: ['ignore', 'pipe', 'ignore'] })
      running.push(child)
      let printed = ''
      child.stdout.setEncoding('utf8').on('data', piece => (printed += piece))
      return eventually(() => {
        const [, port] = /http:\/\/localhost:(\d+)/.exec(printed) ?? expect.fail(`${file} does not listen: ${printed}`)
        return port!
      })
    },
  }
}
