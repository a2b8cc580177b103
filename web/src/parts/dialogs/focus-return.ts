import { useEffect, useState } from 'react'

/** When the dialog goes away, the focus returns to the button that opened it, unless something else has it by then. */
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

/** A dialog that another one opened returns to the button of the first. */
let lastOpener: HTMLElement | null = null

function openerNow(): HTMLElement | null {
  const active = document.activeElement as HTMLElement | null
  if (!active?.closest('[role="dialog"]')) lastOpener = buttonOfMenu(active) ?? active
  return lastOpener
}

/** The item that was chosen goes away with its menu. */
function buttonOfMenu(active: HTMLElement | null) {
  const menu = active?.closest('[role="menu"]')
  return menu && document.querySelector<HTMLElement>(`[aria-controls="${menu.id}"]`)
}
