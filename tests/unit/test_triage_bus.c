/* SPDX-License-Identifier: Apache-2.0 */
/* Devices as lspci, lshw, hwinfo, inxi and sysfs show them, and the memory regions of the kernel
 * log. */
#include "pasted.h"

static void two_cards_and_who_holds_them(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(
		&w,
		"$ lspci -nnk\n"
		"00:02.0 VGA compatible controller [0300]: Intel Corporation UHD 630 [8086:3e98]\n"
		"\tKernel driver in use: i915\n"
		"01:00.0 VGA compatible controller [0300]: NVIDIA Corporation GM107 [GeForce GTX 750 Ti] "
		"[10de:1380] (rev a2)\n"
		"\tKernel driver in use: vfio-pci\n"
		"01:00.1 Audio device [0403]: NVIDIA Corporation GM107 [10de:0fbc]\n"
		"\tKernel driver in use: snd_hda_intel\n"
		"0000:02:00.0 3D controller [0302]: NVIDIA Corporation Device 2c05 (rev a1)\n"
		"\tRegion 1: Memory at <unassigned> (64-bit, prefetchable)\n"
		"\tKernel driver in use: nvidia\n");
	assert_int_equal(w.s.n_gpus, 2);
	is(&w.s.gpus[0].kernel_driver, "vfio-pci", "pasted line 5");
	is(&w.s.gpus[0].chip, "GM107", "pasted line 4");
	is(&w.s.gpus[0].address, "01:00.0", "pasted line 4");
	is(&w.s.gpus[1].kernel_driver, "nvidia", "pasted line 10");
	is(&w.s.gpus[1].pci_id, "10de:2c05", "pasted line 8");
	names(&w, "bus-driver-vfio", "vfio-pci", "pasted line 5");
	assert_true(has(&w, "bus-bar-none"));
	assert_true(has(&w, "bus-other-gpu"));
	arena_free(w.a);
	/* Two of one name are two. */
	read_text(&w, "3b:00.0 3D controller: NVIDIA Corporation TU104GL [Tesla T4] (rev a1)\n"
		      "af:00.0 3D controller: NVIDIA Corporation TU104GL [Tesla T4] (rev a1)\n");
	assert_int_equal(w.s.n_gpus, 2);
	is(&w.s.gpus[1].address, "af:00.0", "pasted line 2");
	arena_free(w.a);
}

static void other_programs(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "  *-display\n       product: TU106 [GeForce RTX 2060 Rev. A]\n"
		      "       vendor: NVIDIA Corporation\n       bus info: pci@0000:0a:00.0\n"
		      "       configuration: driver=nouveau latency=0\n"
		      "  *-network\n       configuration: driver=igb\n");
	is(&w.s.gpus[0].kernel_driver, "nouveau", "pasted line 5");
	arena_free(w.a);
	read_text(&w,
		  "  Device-1: NVIDIA TU117 [GeForce GTX 1650] vendor: Gigabyte driver: nouveau "
		  "v: kernel\n");
	names(&w, "bus-driver-nouveau", "nouveau", "pasted line 1");
	is(&w.s.gpus[0].chip, "TU117", "pasted line 1");
	arena_free(w.a);
	read_text(&w, "  Model: \"nVidia GA106 [GeForce RTX 3060]\"\n  Driver: \"nouveau\"\n");
	names(&w, "bus-driver-nouveau", "nouveau", "pasted line 2");
	arena_free(w.a);
	read_text(&w, "$ readlink /sys/bus/pci/devices/0000:65:00.0/driver\n"
		      "../../../../bus/pci/drivers/vfio-pci\n");
	names(&w, "bus-driver-vfio", "vfio-pci", "pasted line 2");
	arena_free(w.a);
	read_text(&w, "$ ls -d /sys/bus/pci/drivers/nouveau\n/sys/bus/pci/drivers/nouveau\n");
	assert_false(has(&w, "bus-driver-nouveau"));
	arena_free(w.a);
	/* The card's sound function has an id of its own, which is no GPU's. */
	read_text(&w, "PCI\\VEN_10DE&DEV_2684&SUBSYS_889D1043\nPCI\\VEN_10DE&DEV_22BA&SUBSYS_1\n");
	assert_int_equal(w.s.n_gpus, 1);
	is(&w.s.gpus[0].pci_id, "10de:2684", "pasted line 1");
	arena_free(w.a);
}

static void regions_without_room(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w,
		  "pci 0000:05:00.0: BAR 1: no space for [mem size 0x800000000 64bit pref]\n"
		  "pci 0000:01:00.0: BAR 1 [mem size 0x1000000000 64bit pref]: can't assign; no "
		  "space\n"
		  "pci 0000:01:00.0: BAR 1: assigned [mem 0x6000000000-0x6fffffffff 64bit pref]\n");
	names(&w, "region-failed", "05:00.0 BAR 1", "pasted line 1");
	names(&w, "region-assigned", "01:00.0 BAR 1", "pasted line 3");
	arena_free(w.a);
	read_text(&w,
		  "pci 0000:00:1c.0: BAR 13: no space for [io  size 0x1000]\n"
		  "pci 0000:01:00.0: VF BAR 2 [mem size 0x40000000 64bit pref]: can't assign; no "
		  "space\n"
		  "pci 0000:02:00.0: BAR 0: no space for [mem size 0x00004000]\n");
	assert_false(has(&w, "region-failed"));
	arena_free(w.a);
}

static void modules_and_packages(void **state)
{
	struct paste_world w;

	(void)state;
	read_text(&w, "$ grep . /sys/module/nvidia*/version\n/sys/module/nvidia/version:550.90.07\n"
		      "/sys/module/nvidia_uvm/version:550.54.14\n");
	names(&w, "module-core-version", "550.90.07", "pasted line 2");
	names(&w, "module-set-version", "550.54.14", "pasted line 3");
	arena_free(w.a);
	read_text(
		&w,
		"# zypper se -s -i nvidia\n"
		"i+ | nvidia-driver-G06-kmp-default | package | 535.183.01_k6.4 | x86_64 | NVIDIA\n"
		"# yum list cuda-drivers\ncuda-drivers.x86_64  384.81-1  @cuda-9-0-local\n"
		"$ apt list --installed\n"
		"nvidia-utils-510/jammy,now 510.108.03-0ubuntu1 amd64 [installed]\n"
		"[2026-01-04T10:11:02+0100] [ALPM] upgraded nvidia-open (580.105.08-1 -> "
		"590.48.01-2)\n");
	assert_int_equal(w.s.n_os_packages, 4);
	is(&w.s.os_packages[0].version, "535.183.01_k6.4", "pasted line 2");
	is(&w.s.os_packages[1].version, "384.81-1", "pasted line 4");
	is(&w.s.os_packages[3].version, "590.48.01-2", "pasted line 7");
	arena_free(w.a);
	read_text(&w, "larry ~ # lsmod | grep nvidia\nlarry ~ # ls /lib/modules\n6.6.47-gentoo\n");
	names(&w, "kernel-folder", "6.6.47-gentoo", "pasted line 3");
	assert_true(has(&w, "lsmod-empty"));
	arena_free(w.a);
	read_text(&w, "`lsmod | grep nvidia` returns nothing here\n");
	assert_true(has(&w, "lsmod-empty"));
	arena_free(w.a);
	read_text(&w, "If `lsmod | grep nvidia` returns nothing, reboot.\n");
	assert_false(has(&w, "lsmod-empty"));
	arena_free(w.a);
}

int main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(two_cards_and_who_holds_them),
		cmocka_unit_test(other_programs),
		cmocka_unit_test(regions_without_room),
		cmocka_unit_test(modules_and_packages),
	};

	cmocka_set_message_output(CM_OUTPUT_TAP);
	return cmocka_run_group_tests(tests, NULL, NULL);
}
