# PREFIX/bin, PREFIX/lib with the libraries that the programs need beside the system's own, PREFIX/share/strop with
# Strop's files: a tree that can be moved anywhere. pyproject.toml makes a wheel of it, scripts/dist an archive.

# An old-style path also serves the libraries' own libraries.
target_link_options(strop PRIVATE -Wl,--disable-new-dtags)
target_link_options(strop-worker PRIVATE -Wl,--disable-new-dtags)
# The build's program has it too, as src/judge/program_copy.cpp copies it into such a tree. Libraries that do not belong
# to the system are still found where they lie; CMake's own build path would end in the folder that one happens to be in.
set_target_properties(strop strop-worker PROPERTIES INSTALL_RPATH "$ORIGIN/../lib" INSTALL_RPATH_USE_LINK_PATH ON
                                       BUILD_WITH_INSTALL_RPATH ON)
install(TARGETS strop strop-worker strop-candidate strop-candidate-python RUNTIME_DEPENDENCY_SET needed DESTINATION bin)
install(RUNTIME_DEPENDENCY_SET needed
        PRE_EXCLUDE_REGEXES "^ld-linux" "^lib(c|m|dl|rt|pthread|resolv|gcc_s|stdc\\+\\+)\\.so"
        DESTINATION lib)
install(DIRECTORY ci data docs prompts problems DESTINATION share/strop PATTERN images EXCLUDE)
install(DIRECTORY python/strop DESTINATION share/strop/python PATTERN __pycache__ EXCLUDE)
install(DIRECTORY src/language/cuda_emulator DESTINATION share/strop/src/language)
install(FILES src/device/ceilings_main.cpp DESTINATION share/strop/src/device)
install(FILES LICENSE README.md DESTINATION share/strop)
