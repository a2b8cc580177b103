import { Menu, type MenuProps } from '@mantine/core'
import { cloneElement, type ReactElement, type ReactNode, useState } from 'react'
import { useIsDrawn } from '../first-drawing.ts'
import styles from './menu.module.css'

type Props = Omit<MenuProps, 'classNames' | 'children'> & {
  button: ReactElement<{ onClick?(): void }>
  listClass?: string | undefined
  children: ReactNode
}

/**
 * A button that opens a menu. The menu is drawn after the page, because a page with several menus appears sooner so. A
 * click before that opens it as soon as it is there.
 */
export function ButtonMenu({ button, listClass, children, ...options }: Props) {
  const [isAsked, setIsAsked] = useState(false)
  if (!useIsDrawn()) return cloneElement(button, { onClick: () => setIsAsked(true) })
  return (
    <Menu classNames={styles} defaultOpened={isAsked} {...options}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown className={listClass}>{children}</Menu.Dropdown>
    </Menu>
  )
}
