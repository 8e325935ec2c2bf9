import { MARK_PATH, MARK_SIDE_PX } from '@agent-rental/tools';
import type { Icon } from '@modelcontextprotocol/server';

/** A picture of a listing, by its hash. Any other path could lead a client to another service. */
const ICON = /^\/icons\/[0-9a-f]{64}$/;

/** The icon of the marketplace. */
export function markIcons(marketplaceUrl: string): Icon[] {
  const sizes = [`${MARK_SIDE_PX}x${MARK_SIDE_PX}`];
  return [{ src: addressOf(marketplaceUrl, MARK_PATH), mimeType: 'image/png', sizes }];
}

/** The icon of a listing, as a part of its tool or resource; nothing for a listing without a picture. */
export function listingIcons(marketplaceUrl: string, iconPath: string | undefined): { icons?: Icon[] } {
  return iconPath !== undefined && ICON.test(iconPath)
    ? { icons: [{ src: addressOf(marketplaceUrl, iconPath) }] }
    : {};
}

const addressOf = (marketplaceUrl: string, path: string): string => marketplaceUrl.replace(/\/+$/, '') + path;
