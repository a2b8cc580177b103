import { basename } from 'node:path'
import type { Plugin, Rolldown } from 'vite'
import { provideLoader } from './script-loader.ts'

/** The bundler writes `import()` so, in CommonJS. */
const IMPORT = /Promise\.resolve\(\)\.then\(\(\)=>require\("\.\/([^"]+)"\)\)/g

/**
 * Writes the files of the build as plain scripts instead of modules. Chromium keeps the compiled code of both, but uses it
 * only for plain scripts: it compiles modules again at every visit (`MaybeCreateConsumeCodeCacheTask` in its source).
 *
 * The bundler writes CommonJS. Each file becomes one call, `tidingsScript(name, body)`; the first file defines the
 * function and runs. `import()` becomes `load(name, needs)`, which requests all files that are missing at once.
 */
export const plainScripts = (): Plugin => ({
  name: 'plain-scripts',
  apply: 'build',
  config: () => ({
    build: {
      modulePreload: false,
      rolldownOptions: {
        output: { format: 'cjs' },
        // A plain script has no URL of its own. The index contains the base URL.
        transform: { define: { 'import.meta.url': 'document.baseURI', 'import.meta.resolve': 'undefined' } },
      },
    },
    experimental: {
      renderBuiltUrl: (file, { hostType }) =>
        hostType === 'js' ? { runtime: `new URL(${JSON.stringify(file)},document.baseURI).href` } : { relative: true },
    },
  }),
  // The names of the files contain a hash, which the bundler computes before `generateBundle`.
  augmentChunkHash: () => `${provideLoader}${asPlainScript}${withLoads}${filesNeededBy}${IMPORT}`,
  generateBundle: {
    order: 'post',
    handler(_, bundle) {
      for (const chunk of Object.values(bundle)) if (chunk.type === 'chunk') chunk.code = asPlainScript(chunk, bundle)
    },
  },
})

function asPlainScript(chunk: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle): string {
  const name = JSON.stringify(basename(chunk.fileName))
  // The parentheses tell the browser to compile the body at once.
  const body = `(function(require,exports,load){"use strict";${withLoads(chunk, bundle)}\n})`
  const call = `tidingsScript(${name},${body})`
  return chunk.isEntry ? `const runTidings=(${provideLoader})();${call};runTidings(${name})` : call
}

/** The code with `load` instead of `import()`, and with the names of files instead of their paths. */
function withLoads({ code, fileName, dynamicImports }: Rolldown.OutputChunk, bundle: Rolldown.OutputBundle): string {
  const replaced = new Set<string>()
  const changed = code.replace(IMPORT, (_, name: string) => {
    const [file] = Object.keys(bundle).filter(path => basename(path) === name)
    replaced.add(file!)
    return `load(${JSON.stringify(name)},${JSON.stringify(filesNeededBy(file!, bundle).map(path => basename(path)))})`
  })
  const missed = dynamicImports.filter(file => !replaced.has(file))
  if (missed.length > 0) throw new Error(`${fileName} imports ${missed} in a way that this plugin does not know`)
  return changed.replaceAll('require("./', 'require("')
}

/** All files that a file needs before it can run, without the first script, which is always there. */
export function filesNeededBy(file: string, bundle: Rolldown.OutputBundle, found = new Set<string>()): string[] {
  const chunk = bundle[file]
  if (chunk?.type !== 'chunk') throw new Error(`The build has no script ${file}`)
  for (const needed of chunk.imports) {
    const other = bundle[needed]
    if (found.has(needed) || (other?.type === 'chunk' && other.isEntry)) continue
    found.add(needed)
    filesNeededBy(needed, bundle, found)
  }
  return [...found]
}
