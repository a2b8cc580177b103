import { useEffect, useState } from 'react'

/**
 * When the dialog closes, the focus returns to the button that opened it, unless another element has the focus by then.
 */
export function useFocusReturn() {
  const [opener] = useState(openerNow)
  useEffect(
    () => () => {
      setTimeout(() => {
        if (document.activeElement === document.body) opener?.focus()
      })
    },
    [opener],
  )
}

/** If a dialog opened this one, the focus returns to the button of the first dialog. */
let lastOpener: HTMLElement | null = null

function openerNow(): HTMLElement | null {
  const active = document.activeElement instanceof HTMLElement ? document.activeElement : null
  if (!active?.closest('[role="dialog"]')) lastOpener = buttonOfMenu(active) ?? active
  return lastOpener
}

/** The chosen menu item disappears with its menu, so the focus returns to the button of the menu. */
function buttonOfMenu(active: HTMLElement | null) {
  const menu = active?.closest('[role="menu"]')
  return menu && document.querySelector<HTMLElement>(`[aria-controls="${menu.id}"]`)
}
