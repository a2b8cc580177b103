import { Link, useRouter } from '@tanstack/react-router'
import type { ReactNode } from 'react'

type Props = {
  /** The path of a page in the router's form, `/dispatches/$dispatchId`. */
  to: string
  params?: Record<string, string>
  search?: Record<string, unknown>
  className?: string | undefined
  children: ReactNode
  /** Replaces the link if the page does not exist. */
  otherwise?: ReactNode
}

/** Whether this version of the cabinet has a page. */
export const useHasPage = () => {
  const router = useRouter()
  return (path: string) => path in router.routesByPath
}

/** A link to a page that may not exist in this version of the cabinet. */
export function PageLink({ to, params, search, className = 'link', children, otherwise = null }: Props) {
  const hasPage = useHasPage()
  if (!hasPage(to)) return otherwise
  const given = { to, params, search: (before: object) => ({ ...before, ...search }) } as unknown as { to: '/' }
  return (
    <Link {...given} className={className}>
      {children}
    </Link>
  )
}
