import { Notifications } from '@mantine/notifications'

/** The place where toasts appear. */
export default function Toasts() {
  return <Notifications position="bottom-right" limit={3} autoClose={5000} />
}
