import { useRouter } from '@tanstack/react-router'

/** Where the pages are below the host, such as `/` or `/cabinet/`. */
export const basepath = new URL(document.baseURI).pathname

/** Returns a function that opens the page that the person requested before signing in. */
export function useGoBackTo() {
  const { history } = useRouter()
  return (back = '/') => history.replace(basepath.replace(/\/$/, '') + back)
}
