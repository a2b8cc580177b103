/**
 * The lines of HTML that show a widget. A page of a site builder has no server: there the widget puts the signed result
 * into the form around it.
 */
export function snippetOf(address: string, widgetId: string, isBuilder: boolean): string[] {
  const options = `{ destination: '79160000001', widgetId: '${widgetId}' }`
  return [
    '<div id="verify"></div>',
    `<script src="${address}/widget/VerifyWidget.umd.min.js"></script>`,
    '<script>',
    ...(isBuilder ? [`  VerifyWidget.mount('#verify', ${options})`] : mountLines(options)),
    '</script>',
  ]
}

const mountLines = (options: string) => [
  `  VerifyWidget.mount('#verify', ${options},`,
  "    key => fetch('/send-code', {",
  "      method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify({ key }),",
  '    }),',
  "    key => console.log('confirmed', key))",
]
