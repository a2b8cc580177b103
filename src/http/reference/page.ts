/** The page of the API reference, with its own script and styles. */

export const icon =
  "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E%3Cpath fill='%230b6e8f' d='M4 6h24v16H14l-6 5v-5H4z'/%3E%3C/svg%3E"

export const referencePage = `<!doctype html>
<html lang="en">
<head>
  <meta charset="utf-8">
  <meta name="viewport" content="width=device-width, initial-scale=1">
  <title>Tidings API reference</title>
  <link rel="icon" href="${icon}">
  <link rel="stylesheet" href="/docs/docs.css">
</head>
<body class="reference">
  <div id="reference"><noscript><p>The interactive reference needs JavaScript. Its OpenAPI documents:
    <a href="/docs/messaging.json">messaging API</a>, <a href="/docs/partner.json">partner API</a>.</p></noscript></div>
  <script src="/docs/scalar.js"></script>
  <script src="/docs/reference.js"></script>
</body>
</html>
`

/** The page sends no request to another origin: no fonts, no proxy, no telemetry, no agent. */
export const referenceScript = `Scalar.createApiReference('#reference', {
  sources: [
    { title: 'Messaging API', slug: 'messaging', url: '/docs/messaging.json', default: true,
      authentication: { preferredSecurityScheme: 'bearer' } },
    { title: 'Partner API', slug: 'partner', url: '/docs/partner.json',
      authentication: { preferredSecurityScheme: 'token' } },
  ],
  theme: 'none',
  withDefaultFonts: false,
  telemetry: false,
  persistAuth: true,
  hideClientButton: true,
  showDeveloperTools: 'never',
  agent: { disabled: true },
  mcp: { disabled: true },
  documentDownloadType: 'json',
  operationTitleSource: 'summary',
  // Samples in curl and Python. The documents contain the samples in TypeScript.
  hiddenClients: {
    c: true, clojure: true, csharp: true, dart: true, fsharp: true, go: true, http: true, java: true, js: true,
    kotlin: true, node: true, objc: true, ocaml: true, php: true, powershell: true, r: true, ruby: true, rust: true,
    swift: true, shell: ['httpie', 'wget'], python: ['python3', 'httpx_sync', 'httpx_async', 'aiohttp'],
  },
  defaultHttpClient: { targetKey: 'shell', clientKey: 'curl' },
})
`

export const docsStyle = `
:root {
  color-scheme: light dark;
  --ink: #1b2327; --soft: #56646b; --paper: #ffffff; --panel: #f4f7f8; --line: #dbe3e6; --accent: #0b6e8f;
}
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6edf0; --soft: #9fb0b8; --paper: #14191c; --panel: #1c2327; --line: #2f3a40; --accent: #5cc3e4; }
}
body { margin: 0; background: var(--paper); color: var(--ink); }

/* Scalar: the fonts of the system, and our colours. */
.light-mode {
  --scalar-color-1: #1b2327; --scalar-color-2: #46545b; --scalar-color-3: #66747b; --scalar-color-accent: #0b6e8f;
  --scalar-background-1: #ffffff; --scalar-background-2: #f4f7f8; --scalar-background-3: #e7edef;
  --scalar-border-color: #dbe3e6;
}
.dark-mode {
  --scalar-color-1: #e6edf0; --scalar-color-2: #b9c6cc; --scalar-color-3: #94a4ac; --scalar-color-accent: #5cc3e4;
  --scalar-background-1: #14191c; --scalar-background-2: #1c2327; --scalar-background-3: #273036;
  --scalar-border-color: #2f3a40;
}
.reference {
  --scalar-font: system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif;
  --scalar-font-code: ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
}
noscript { display: block; padding: 2rem; font-family: system-ui, sans-serif; }

.errors { font: 1rem/1.55 system-ui, -apple-system, 'Segoe UI', Roboto, 'Helvetica Neue', Arial, sans-serif; }
.errors header, .errors main { max-width: 46rem; margin: 0 auto; padding: 0 1.25rem; }
.errors header { padding-top: 2.5rem; }
.errors main { padding-bottom: 40vh; }
.errors a { color: var(--accent); text-decoration: none; }
.errors a:hover, .errors a:focus-visible { text-decoration: underline; }
.errors h1 { font-size: 2rem; line-height: 1.2; margin: .5rem 0 1rem; }
.errors h2 { font-size: 1.35rem; margin: 3rem 0 1rem; }
.errors h3 { font-size: 1.05rem; margin: 0 0 .25rem; }
.errors h3 a { font-variant-numeric: tabular-nums; margin-right: .35rem; }
.errors small { color: var(--soft); font-weight: normal; font-size: .85rem; white-space: nowrap; margin-left: .35rem; }
.errors code {
  font: .875em ui-monospace, 'SF Mono', 'Cascadia Mono', Menlo, Consolas, 'DejaVu Sans Mono', monospace;
  background: var(--panel); border: 1px solid var(--line); border-radius: .25rem; padding: 0 .25em;
  overflow-wrap: anywhere;
}
.errors nav { background: var(--panel); border: 1px solid var(--line); border-radius: .5rem; padding: .25rem 1rem; }
.errors nav p { margin: .6rem 0; line-height: 2; }
.errors nav a { display: inline-block; margin-right: .5rem; font-variant-numeric: tabular-nums; }
.errors nav p > a:first-child { color: var(--ink); font-weight: 600; min-width: 7rem; }
.errors section { border-top: 1px solid var(--line); padding: 1.1rem 0; scroll-margin-top: 1rem; }
.errors section:target { background: var(--panel); box-shadow: -1rem 0 var(--panel), 1rem 0 var(--panel), -1.25rem 0 var(--accent); }
.errors section p { margin: 0 0 .5rem; }
.errors dl { display: grid; grid-template-columns: 6.5rem 1fr; gap: .25rem .75rem; margin: 0; }
.errors dt { color: var(--soft); }
.errors dd { margin: 0; }
@media (max-width: 34rem) {
  .errors dl { grid-template-columns: 1fr; gap: 0; }
  .errors dd { margin-bottom: .5rem; }
}
`
