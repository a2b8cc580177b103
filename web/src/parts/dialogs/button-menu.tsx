import { Menu, type MenuProps } from '@mantine/core'
import type { ReactElement, ReactNode } from 'react'
import { useIsDrawn } from '../first-drawing.ts'
import styles from './menu.module.css'

type Props = Omit<MenuProps, 'classNames' | 'children'> & {
  button: ReactElement
  listClass?: string | undefined
  children: ReactNode
}

/** A button that opens a menu. The menu is drawn after the page, because a page with several menus appears sooner so. */
export function ButtonMenu({ button, listClass, children, ...options }: Props) {
  if (!useIsDrawn()) return button
  return (
    <Menu classNames={styles} {...options}>
      <Menu.Target>{button}</Menu.Target>
      <Menu.Dropdown className={listClass}>{children}</Menu.Dropdown>
    </Menu>
  )
}
