import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = fileURLToPath(new URL('../..', import.meta.url))

/** The program in TypeScript below these folders of the project, without tests and their helpers. */
export const programFiles = (...folders: string[]): { name: string; path: string }[] =>
  folders
    .flatMap(folder =>
      readdirSync(join(root, folder), { recursive: true, encoding: 'utf8' }).map(name => join(folder, name)),
    )
    .filter(name => /\.tsx?$/.test(name) && !/\.test\.tsx?$|\.d\.ts$|^src\/testing\/|node_modules/.test(name))
    .map(name => ({ name, path: join(root, name) }))
