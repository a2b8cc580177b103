import { writeFile } from 'node:fs/promises'
import { environmentExample, settingsPage } from '../src/config.ts'

/** Writes the pages about the settings, from the list of them. */
await writeFile(new URL('../docs/configuration.md', import.meta.url), settingsPage())
await writeFile(new URL('../.env.example', import.meta.url), environmentExample())
