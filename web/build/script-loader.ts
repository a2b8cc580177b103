/** The body of a file of the build, as a CommonJS module. `load` stands for `import()`. */
type Body = (require: (file: string) => object, exports: object, load: Loader) => void
type Loader = (file: string, needs: string[]) => Promise<object>

declare global {
  /** Each file of the build calls it with its name and its body. */
  var tidingsScript: (file: string, body: Body) => void
}

/**
 * Runs in the browser, before the first script of the cabinet: defines `tidingsScript`, which the other files call. A
 * file that could not be loaded is requested again by the next `load`.
 */
export function provideLoader() {
  const folder = new URL('.', (document.currentScript as HTMLScriptElement).src)
  const bodies = new Map<string, Body>()
  const requests = new Map<string, Promise<void>>()
  const modules = new Map<string, object>()

  function request(file: string): Promise<void> {
    if (bodies.has(file)) return Promise.resolve()
    const found = requests.get(file)
    if (found) return found
    const started = new Promise<void>((resolve, reject) => {
      const script = document.createElement('script')
      script.src = new URL(file, folder).href
      // A proxy may answer with a page of its own.
      script.onload = () => (bodies.has(file) ? resolve() : fail())
      script.onerror = fail
      function fail() {
        requests.delete(file)
        script.remove()
        // The router knows these words, and reloads the page: a new version may have replaced the file.
        reject(new TypeError(`Failed to fetch dynamically imported module: ${script.src}`))
      }
      document.head.append(script)
    })
    requests.set(file, started)
    return started
  }

  function require(file: string): object {
    const known = modules.get(file)
    if (known) return known
    const exports = {}
    modules.set(file, exports) // before it runs, for files that need each other
    try {
      bodies.get(file)!(require, exports, load)
    } catch (error) {
      modules.delete(file)
      throw error
    }
    return exports
  }

  async function load(file: string, needs: string[]): Promise<object> {
    await Promise.all([file, ...needs].map(request))
    return require(file)
  }

  globalThis.tidingsScript = (file, body) => {
    bodies.set(file, body)
  }
  return require
}
